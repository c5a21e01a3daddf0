import { Clock, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../domain/ApiError.ts"
import * as Batches from "../store/Batches.ts"
import { timestamptz } from "../store/Timestamptz.ts"
import * as CommitStatement from "../store/journal/CommitStatement.ts"
import type { Receipt } from "../store/journal/Journal.ts"
import * as Slot from "./Slot.ts"

export type Stored = Pick<Receipt, "bodyHash" | "status" | "body" | "sealed">

interface Waiting {
  readonly slot: Slot.Slot
  readonly done: Deferred.Deferred<Stored | null, ApiError>
}

const away = ApiError.of("service_unavailable", "the service cannot reach its database at the moment")

const batchLimit = 256

/** `$1`: JSON array of places with their ordinals; `$2`: a time; an older receipt counts as forgotten. */
const text = `
SELECT w.ordinal, r.body_hash, r.status, r.body, r.sealed
FROM jsonb_to_recordset($1::jsonb) AS w(ordinal int, owner text, key text, method text, path text)
CROSS JOIN LATERAL (
  SELECT i.body_hash, i.status, i.body, i.sealed FROM idempotency i
  WHERE i.owner = w.owner AND i.key = w.key AND i.method = w.method AND i.path = w.path
    AND i.created_at > $2::timestamptz LIMIT 1
) r`

/**
 * Looks receipts up. Requests that come while one statement runs share the next one, so that under load each costs a
 * part of a round trip.
 *
 * A lookup gives the receipt or null. When the database has not answered for `timeoutMs`, all waiting lookups fail with
 * `service_unavailable`. `Idempotency.inFlightLimit` bounds how many wait.
 */
export const make = Effect.fnUntraced(function* (timeoutMs: number) {
  const sql = yield* SqlClient.SqlClient

  const look = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
    const forgottenAt = (yield* Clock.currentTimeMillis) - Slot.windowMs
    const places = batch.map(({ slot: { key, method, owner, path } }, ordinal) => ({
      ordinal,
      owner,
      key,
      method,
      path
    }))
    const rows = yield* sql.unsafe<Stored & { readonly ordinal: number }>(text, [
      CommitStatement.encode(places),
      timestamptz(forgottenAt)
    ])
    return new Map(rows.map(({ ordinal, ...stored }) => [ordinal, stored]))
  })

  const answer = (batch: ReadonlyArray<Waiting>, of: (ordinal: number) => Exit.Exit<Stored | null, ApiError>) =>
    batch.forEach(({ done }, ordinal) => Deferred.doneUnsafe(done, of(ordinal)))

  const serve = Effect.fnUntraced(function* (
    batch: ReadonlyArray<Waiting>,
    rest: Effect.Effect<ReadonlyArray<Waiting>>
  ) {
    // The statement is forked because the client needs seconds to give it up when the database does not answer. No
    // request waits for that.
    const looking = yield* Effect.forkDetach(Effect.orDie(look(batch)))
    const exit = yield* Effect.timeoutOption(Fiber.await(looking), timeoutMs)
    if (Option.isSome(exit)) {
      const found = exit.value
      return answer(batch, (ordinal) => Exit.map(found, (rows) => rows.get(ordinal) ?? null))
    }
    looking.interruptUnsafe()
    answer([...batch, ...(yield* rest)], () => Exit.fail(away))
  })

  const batches = yield* Batches.make<Waiting>({
    name: "the lookup of receipts",
    limit: batchLimit,
    serve,
    died: ({ done }, defect) => void Deferred.doneUnsafe(done, Exit.die(defect))
  })

  return (slot: Slot.Slot): Effect.Effect<Stored | null, ApiError> => Batches.ask(batches, (done) => ({ slot, done }))
})
