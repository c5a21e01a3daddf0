import { Deferred, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import * as LogOnce from "../../runtime/process/LogOnce.ts"
import type { EventId } from "../../domain/Id.ts"
import * as Batches from "../../runtime/store/Batches.ts"
import * as CommitStatement from "../../runtime/store/journal/CommitStatement.ts"
import type { WebhookEndpointRef } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import * as HeldPartitions from "../../runtime/store/owner/HeldPartitions.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import * as TurnBatches from "../../runtime/store/TurnBatches.ts"
import * as Unanswered from "../../runtime/store/journal/Unanswered.ts"
import * as DeliveryQueue from "../claim/DeliveryQueue.ts"
import * as FailingEndpoints from "./FailingEndpoints.ts"

interface Waiting {
  readonly outcome: DeliveryQueue.Outcome
  readonly done: Deferred.Deferred<void>
}

const batchLimit = 256

/** A short pause costs little, because only the next event of the same call waits for an outcome. */
const pauseMs = 5

/**
 * While no event waits for an outcome, outcomes gather for longer, because each statement costs the database as much
 * again.
 */
const longerMs = 15

/** The most outcomes that wait to be counted; those of further ones are lost. */
const mostUncounted = 4096

/** After this many refusals in a row by a reachable database, a batch is written row by row. */
const refusalLimit = 3

/**
 * One fiber writes outcomes, many per statement, tenants in turns; `write` completes when the outcome is written.
 *
 * Successes, the common case, are one statement. All other outcomes are a transaction after it, which also makes the
 * failover deliveries of events that have no delivery left, and calls `wake` with those after its commit. Outcomes wait
 * while the database is unreachable; there are never more of them than attempts may be under way. An outcome that the
 * database refuses by itself is a fault: it is logged and dropped, and its row becomes due when its lease ends.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly wake: (endpoints: ReadonlyArray<WebhookEndpointRef>) => void
  readonly rule: FailingEndpoints.Rule
  /** Called for each endpoint whose last failure fulfilled the rule. */
  readonly failed: (endpoint: FailingEndpoints.Failed) => void
}) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const failing = yield* FailingEndpoints.make(options.rule)
  const said = LogOnce.make({
    fails: "webhook outcomes cannot be written",
    works: "webhook outcomes are written again"
  })

  const succeed = (outcomes: ReadonlyArray<DeliveryQueue.Outcome>) =>
    Effect.asVoid(
      Effect.suspend(() =>
        sql.unsafe(DeliveryQueue.succeed, [CommitStatement.encode(outcomes), ...HeldPartitions.parameters(journal)])
      )
    )

  const conclude = (outcomes: ReadonlyArray<DeliveryQueue.Outcome>) =>
    sql.unsafe<{ readonly eventId: EventId }>(DeliveryQueue.conclude, [CommitStatement.encode(outcomes)]).pipe(
      Effect.flatMap((failed) =>
        failOver(
          sql,
          failed.map(({ eventId }) => eventId)
        )
      ),
      sql.withTransaction,
      Effect.map(options.wake)
    )

  const write = (
    attempt: (outcomes: ReadonlyArray<DeliveryQueue.Outcome>) => Effect.Effect<void, SqlError>,
    batch: ReadonlyArray<Waiting>,
    refusals = 0
  ): Effect.Effect<void> =>
    attempt(batch.map(({ outcome }) => outcome)).pipe(
      // Writing an outcome twice changes nothing, because it names its attempt.
      Effect.timeout(Batches.silence),
      Effect.matchEffect({
        onSuccess: () =>
          Effect.andThen(
            said.worked,
            Effect.sync(() => finish(batch))
          ),
        onFailure: Effect.fnUntraced(function* (error) {
          yield* said.failed(error.message)
          yield* Effect.sleep("200 millis")
          // A server without free space answers with an error that counts as an outage, but still reads.
          const isAway = error instanceof SqlError && Outage.is(error) && Unanswered.of(error) === null
          const reachable = !isAway && (yield* Effect.isSuccess(Effect.timeout(sql`SELECT 1`, "5 seconds")))
          if (!reachable || refusals + 1 < refusalLimit)
            return yield* write(attempt, batch, reachable ? refusals + 1 : 0)
          if (batch.length > 1)
            return yield* Effect.forEach(batch, (entry) => write(attempt, [entry]), { discard: true })
          yield* Effect.logError("a webhook outcome was refused by the database", error)
          finish(batch)
        })
      })
    )

  /** Outcomes that wait to be counted. */
  let uncounted = 0
  /**
   * Counts the failures of endpoints by a fiber of its own: an outcome must not wait for the count of another one,
   * because the next event of its call waits for it. A lost count does no harm, because the next failure counts.
   */
  const counter = yield* TurnBatches.make<DeliveryQueue.Outcome>({
    name: "the counter of failing endpoints",
    limit: batchLimit,
    serve: (outcomes) =>
      failing.note(outcomes).pipe(
        Effect.timeout("5 seconds"),
        Effect.map((failed) => {
          for (const endpoint of failed) options.failed(endpoint)
        }),
        Effect.ignore({ log: "Warn", message: "failures of endpoints were not counted" }),
        Effect.ensuring(
          Effect.sync(() => {
            uncounted -= outcomes.length
          })
        )
      ),
    died: () => undefined
  })
  const note = (outcome: DeliveryQueue.Outcome): void => {
    if ((outcome.status === "succeeded" && !outcome.wasFailing) || uncounted >= mostUncounted) return
    uncounted++
    counter.offer(outcome.tenantId, outcome)
  }

  const serve = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
    const successes = batch.filter(({ outcome }) => outcome.status === "succeeded")
    if (successes.length > 0) yield* write(succeed, successes)
    if (successes.length < batch.length)
      yield* write(
        conclude,
        batch.filter(({ outcome }) => outcome.status !== "succeeded")
      )
    for (const { outcome } of batch) note(outcome)
  })

  const batches = yield* TurnBatches.make<Waiting>({
    name: "the writer of webhook outcomes",
    limit: batchLimit,
    pauseMs,
    longerMs,
    serve,
    died: ({ done }, defect) => void Deferred.doneUnsafe(done, Exit.die(defect))
  })

  return {
    /** Called because an event waits for the outcome of the one before it. */
    hurry: batches.hurry,
    write: (outcome: DeliveryQueue.Outcome): Effect.Effect<void> =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<void>()
        batches.offer(outcome.tenantId, { outcome, done })
        return Deferred.await(done)
      })
  }
})

const finish = (batch: ReadonlyArray<Waiting>): void => {
  for (const { done } of batch) Deferred.doneUnsafe(done, Exit.void)
}

/** Runs inside the transaction in which the last deliveries of these events failed. Gives the endpoints to wake. */
export const failOver = (
  sql: SqlClient.SqlClient,
  eventIds: ReadonlyArray<EventId>
): Effect.Effect<ReadonlyArray<WebhookEndpointRef>, SqlError> => {
  if (eventIds.length === 0) return Effect.succeed([])
  const ids = `{${eventIds.join(",")}}`
  return Effect.andThen(
    sql.unsafe(DeliveryQueue.lockEvents, [ids]),
    sql.unsafe<WebhookEndpointRef>(DeliveryQueue.failOver, [ids])
  )
}
