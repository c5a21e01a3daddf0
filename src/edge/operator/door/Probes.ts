import { Effect, Fiber, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../telephony/call/Call.ts"
import { Conferences } from "../../../telephony/conference/Conference.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { StatementLimit } from "../../../runtime/store/StatementLimit.ts"
import * as EdgeFacts from "../metric/EdgeFacts.ts"
import * as JobMetrics from "../metric/JobMetrics.ts"
import * as MoneyMetrics from "../metric/MoneyMetrics.ts"
import * as PortMetrics from "../metric/PortMetrics.ts"
import * as ProcessFacts from "../metric/ProcessFacts.ts"

/** The time within which a probe answers, even when the database does not. */
const probeTimeout = "1 second"
const probeMs = 1_000

/**
 * The most unfinished first attempts, and the most unfinished retries, that are counted. Beyond it the count only means
 * "many".
 */
const dueLimit = 50_000

const liveCalls = Metric.gauge("calls_live", { description: "Calls that have an actor" })
const liveConferences = Metric.gauge("conferences_live", { description: "Conferences that have an actor" })
const members = Metric.gauge("conference_members", { description: "Calls that are in the rooms of conferences" })
const waiting = Metric.gauge("journal_commits_waiting", {
  description: "Commits that wait for their statement or its answer"
})
const unavailable = Metric.gauge("journal_unavailable_seconds", { description: "How long commits have been waiting" })
const deliveriesDue = Metric.gauge("webhook_deliveries_due", {
  description: `Deliveries whose attempt is due, among ${dueLimit} first tries and ${dueLimit} retries that wait; NaN: the database does not answer`
})

/**
 * The probes of a supervisor: `/healthz` (the process lives), `/readyz` (it may get traffic), `/metrics` (Prometheus).
 *
 * `notReady` returns the reasons of the rest of the process why it should get no traffic.
 */
export const make = Effect.fnUntraced(function* (notReady: () => ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const calls = yield* Calls
  const conferences = yield* Conferences
  const updateJobs = yield* JobMetrics.update
  const updateMoney = yield* MoneyMetrics.update
  const facts = yield* ProcessFacts.make
  const ports = yield* PortMetrics.make
  const edge = yield* EdgeFacts.make

  /**
   * False also when the effect takes too long. A statement on a silent connection takes longer to end, so this does not
   * wait for it.
   */
  const soon = (isSo: Effect.Effect<boolean, unknown>) =>
    Effect.forkDetach(Effect.provideService(isSo, StatementLimit, probeMs)).pipe(
      Effect.flatMap(Fiber.join),
      Effect.timeout(probeTimeout),
      Effect.catchCause(() => Effect.succeed(false))
    )
  const answers = soon(Effect.as(sql`SELECT 1`, true))
  const canWrite = soon(journal.canWrite)

  const databaseReasons = Effect.gen(function* () {
    const sinceMs = yield* journal.unavailableForMs
    if (sinceMs > 0) return [`the database has been away for ${Math.ceil(sinceMs / 1000)} s, and commits wait`]
    if (!(yield* answers)) return ["the database does not answer"]
    return (yield* canWrite) ? [] : ["nothing can be stored in the database"]
  })

  /** The last figures remain when the database does not answer in time. */
  const unlessLate = (update: Effect.Effect<unknown, unknown>) =>
    Effect.catchCause(Effect.timeout(update, probeTimeout), () => Effect.void)

  const countDue = sql<{ readonly due: number }>`
    SELECT count(*) FILTER (WHERE due_at <= now()) AS due FROM (
      (SELECT due_at FROM webhook_delivery WHERE due_at IS NOT NULL AND in_lane LIMIT ${dueLimit})
      UNION ALL
      (SELECT due_at FROM webhook_delivery WHERE due_at IS NOT NULL AND NOT in_lane LIMIT ${dueLimit})
    ) AS unfinished`.pipe(
    Effect.map((rows) => rows[0]?.due ?? Number.NaN),
    Effect.timeout(probeTimeout),
    Effect.catchCause(() => Effect.succeed(Number.NaN))
  )

  return {
    healthz: HttpServerResponse.jsonUnsafe({ status: "ok" }),
    readyz: Effect.map(databaseReasons, (database) => {
      const reasons = [...notReady(), ...database]
      const ready = reasons.length === 0
      return HttpServerResponse.jsonUnsafe({ ready, reasons }, { status: ready ? 200 : 503 })
    }),
    metrics: Effect.gen(function* () {
      yield* Metric.update(liveCalls, yield* calls.liveCount)
      yield* Metric.update(liveConferences, yield* conferences.liveCount)
      yield* Metric.update(members, yield* conferences.memberCount)
      yield* Metric.update(waiting, journal.waiting())
      yield* Metric.update(unavailable, (yield* journal.unavailableForMs) / 1000)
      yield* Metric.update(deliveriesDue, yield* countDue)
      yield* unlessLate(updateJobs)
      yield* unlessLate(updateMoney)
      const text = facts() + (yield* ports) + (yield* edge) + (yield* PrometheusMetrics.format())
      return HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
    })
  } as const
})
