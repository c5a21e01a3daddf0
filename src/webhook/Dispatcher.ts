import { Effect, FiberMap, Layer, Metric, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Supervised from "../actor/Supervised.ts"
import type { Egress } from "../egress/Egress.ts"
import { Journal } from "../store/Journal.ts"
import type { Vault } from "../store/Vault.ts"
import * as Attempt from "./Attempt.ts"
import * as Claimer from "./Claimer.ts"
import * as ClockSteps from "./ClockSteps.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import * as WebhookEndpoint from "./WebhookEndpoint.ts"
import * as OutcomeWriter from "./OutcomeWriter.ts"

export interface Options {
  /** Of this service, for `User-Agent`. */
  readonly version: string
  /** Delays before attempts 2, 3, …; the schedule of guide/webhooks.md#deliveries unless a test shortens it. */
  readonly delaysMs?: ReadonlyArray<number>
  /** How often it looks for due rows: retries, leases that ran out, hints that got lost. */
  readonly pollMs?: number
  /** An endpoint without work stops after this. */
  readonly idleMs?: number
  /** Endpoints alive at once; the next look at due rows finds the others again. */
  readonly maxLive?: number
  /** Attempts under way at once, over all endpoints (see `Claimer`). */
  readonly maxUnderWay?: number
  /** Closing lets attempts finish for this long; those that are cut off are made again after the next start. */
  readonly drainMs?: number
}

const live = Metric.gauge("webhook_destinations_live", { description: "Endpoints with a fiber" })
const underWayGauge = Metric.gauge("webhook_attempts_under_way", { description: "Webhook attempts under way" })

/**
 * Delivers what commits queue (src/README.md#fan-out): a supervised fiber for each endpoint with work, one claimer and
 * one writer of outcomes for all of them, and one look at due rows a second.
 *
 * The rows are the truth. A hint of the journal only starts the work sooner. A retry is due by its row, so nothing
 * sleeps for 24 hours and a restart loses nothing. A process that dies between a request and its outcome leaves a
 * `sending` row, which is attempted again: at least once, never lost. Each claim reads URL and secret, so a changed
 * subscription counts from the next attempt on.
 */
export const layer = (options: Options): Layer.Layer<never, never, SqlClient.SqlClient | Journal | Egress | Vault> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { drainMs = 2_000, idleMs = 10_000, maxLive = 4_096, maxUnderWay = 2_048, pollMs = 1_000 } = options
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const fibers = yield* FiberMap.make<string, void, never>()
      const fork = yield* FiberMap.runtime(fibers)()
      const endpoints = new Map<string, WebhookEndpoint.WebhookEndpoint>()
      let underWay = 0
      let closing = false

      const attempt = yield* Attempt.make({
        version: options.version,
        delaysMs: options.delaysMs ?? RetryPolicy.schedule
      })
      const claimer = yield* Claimer.make({ load: () => (closing ? 1 : underWay / maxUnderWay) })
      const writer = yield* OutcomeWriter.make({ wake: (made) => wakeAll(made) })

      const deliver = (delivery: DeliveryQueue.Delivery) =>
        Effect.suspend(() => {
          underWay++
          return Effect.ensuring(
            Effect.flatMap(attempt(delivery), writer.write),
            Effect.sync(() => underWay--)
          )
        })

      const release = (partition: number, endpoint: string | null) =>
        sql.unsafe(DeliveryQueue.release, [partition, endpoint])

      const start = Effect.fnUntraced(function* (id: string, partition: number) {
        const endpoint = yield* WebhookEndpoint.make({
          id,
          partition,
          idleMs,
          claim: claimer.claim,
          deliver,
          stopped: () => endpoints.delete(id)
        })
        endpoints.set(id, endpoint)
        return endpoint
      })

      // The next look at due rows starts an endpoint that died again, and finds what it had claimed.
      const supervise = (id: string, endpoint: WebhookEndpoint.WebhookEndpoint) =>
        Effect.catchCause(endpoint.run, (cause) =>
          Effect.logError("a webhook endpoint died", cause).pipe(
            Effect.andThen(Effect.ignore(release(endpoint.partition, id), { log: "Warn" })),
            Effect.andThen(Effect.sync(() => endpoints.delete(id)))
          )
        )

      const wake = (id: string, partition: number): void => {
        if (closing || !journal.partitions().includes(partition)) return
        const known = endpoints.get(id)
        if (known !== undefined) return known.workWaits()
        if (endpoints.size >= maxLive) return
        const endpoint = Effect.runSync(start(id, partition))
        endpoint.workWaits()
        fork(id, supervise(id, endpoint))
      }
      const wakeAll = (ids: Iterable<DeliveryQueue.Due>): void => {
        for (const { endpoint, partition } of ids) wake(endpoint, partition)
      }

      /** Another process delivers there now; it attempts again what it finds under way. */
      const leave = (partition: number): void => {
        for (const [id, endpoint] of endpoints)
          if (endpoint.partition === partition) {
            endpoints.delete(id)
            Option.getOrUndefined(FiberMap.getUnsafe(fibers, id))?.interruptUnsafe()
          }
      }

      const setBack = yield* ClockSteps.make
      const look = Effect.gen(function* () {
        const backMs = yield* setBack
        if (backMs > 0) {
          yield* Effect.logWarning("the clock of the database was set back; deliveries follow it", { ms: backMs })
          for (const partition of journal.partitions()) yield* sql.unsafe(DeliveryQueue.advance, [partition, backMs])
        }
        for (const partition of journal.partitions())
          wakeAll(yield* sql.unsafe<DeliveryQueue.Due>(DeliveryQueue.due, [partition, maxLive]))
        yield* Metric.update(live, endpoints.size)
        yield* Metric.update(underWayGauge, underWay)
      })

      yield* journal.onPartitionLost(leave)
      for (const partition of journal.partitions()) yield* Effect.orDie(release(partition, null))
      yield* journal.onDeliveries(wakeAll)
      yield* Supervised.fork(
        "the look at due deliveries",
        look.pipe(Effect.ignore({ log: "Warn" }), Effect.andThen(Effect.sleep(pollMs)), Effect.forever)
      )
      yield* Effect.addFinalizer(() => {
        closing = true
        return Effect.sleep("10 millis").pipe(
          Effect.repeat({ until: () => underWay === 0 }),
          Effect.timeoutOption(drainMs)
        )
      })
    })
  )
