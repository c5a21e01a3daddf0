import { Deferred, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Batches from "../store/Batches.ts"
import type { EventId } from "../domain/Id.ts"
import * as CommitStatement from "../store/CommitStatement.ts"
import type { WebhookEndpointRef } from "../store/Journal.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"

interface Waiting {
  readonly outcome: DeliveryQueue.Outcome
  readonly done: Deferred.Deferred<void>
}

/** Outcomes of one statement. */
const batchLimit = 256

/** A short pause costs little: only the next event of the same call waits for an outcome. */
const pauseMs = 5

/** After this many refusals in a row by a database that answers, a batch is written row by row. */
const refusalLimit = 3

/**
 * One fiber writes outcomes, many per statement; `write` completes when the outcome is durable.
 *
 * A batch of successes, the common case, is one statement. A batch with anything else is a transaction, which also
 * makes the failover deliveries of events that have no delivery left; `wake` hears of those after its commit. Outcomes
 * wait while the database is away; there are never more than attempts may be under way. An outcome that the database
 * refuses by itself is a fault: it is logged and dropped, and its row returns when its lease ends.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly wake: (endpoints: ReadonlyArray<WebhookEndpointRef>) => void
}) {
  const sql = yield* SqlClient.SqlClient

  const conclude = (outcomes: ReadonlyArray<DeliveryQueue.Outcome>) =>
    sql.unsafe<{ readonly eventId: EventId }>(DeliveryQueue.conclude, [CommitStatement.encode(outcomes)])

  const attempt = (outcomes: ReadonlyArray<DeliveryQueue.Outcome>): Effect.Effect<void, SqlError> =>
    outcomes.every(({ status }) => status === "succeeded")
      ? Effect.asVoid(conclude(outcomes))
      : sql
          .withTransaction(
            Effect.flatMap(conclude(outcomes), (failed) =>
              failOver(
                sql,
                failed.map(({ eventId }) => eventId)
              )
            )
          )
          .pipe(Effect.map(options.wake))

  const write = (batch: ReadonlyArray<Waiting>, refusals = 0): Effect.Effect<void> =>
    attempt(batch.map(({ outcome }) => outcome)).pipe(
      // An outcome that is written twice changes nothing, because it names its attempt.
      Effect.timeout(Batches.silence),
      Effect.matchEffect({
        onSuccess: () => Effect.sync(() => finish(batch)),
        onFailure: Effect.fnUntraced(function* (error) {
          yield* Effect.logWarning("webhook outcomes cannot be written", error.message)
          yield* Effect.sleep("200 millis")
          const reachable = yield* Effect.isSuccess(Effect.timeout(sql`SELECT 1`, "5 seconds"))
          if (!reachable || refusals + 1 < refusalLimit) return yield* write(batch, reachable ? refusals + 1 : 0)
          if (batch.length > 1) return yield* Effect.forEach(batch, (entry) => write([entry]), { discard: true })
          yield* Effect.logError("a webhook outcome was refused by the database", error)
          finish(batch)
        })
      })
    )

  const batches = yield* Batches.make<Waiting>({
    name: "the writer of webhook outcomes",
    limit: batchLimit,
    pauseMs,
    serve: (batch) => write(batch),
    died: ({ done }, defect) => void Deferred.doneUnsafe(done, Exit.die(defect))
  })

  return {
    write: (outcome: DeliveryQueue.Outcome): Effect.Effect<void> => Batches.ask(batches, (done) => ({ outcome, done }))
  }
})

const finish = (batch: ReadonlyArray<Waiting>): void => {
  for (const { done } of batch) Deferred.doneUnsafe(done, Exit.void)
}

/** Runs inside the transaction in which the last deliveries of these events failed. Answers the endpoints to wake. */
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
