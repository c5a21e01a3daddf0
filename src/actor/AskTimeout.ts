import { Deferred, Effect, Exit } from "effect"
import * as Monotonic from "../domain/Monotonic.ts"
import { ApiError } from "../domain/ApiError.ts"
import * as Supervised from "./Supervised.ts"

/**
 * Ends waits that an outage would make endless: while `outage` is true, a caller that has waited 2 s gets 503.
 *
 * A message that then still waits in the mailbox, or for its turn to be written, is dropped. Only a statement that the
 * database already has may take effect when the outage ends; a repetition with the same Idempotency-Key waits for that
 * and finds it. One fiber looks at all waits, so that a wait costs a map entry and no timer.
 */
export interface AskTimeout {
  readonly wait: <A>(done: Deferred.Deferred<A, ApiError>) => Effect.Effect<A, ApiError>
}

const timeoutMs = 2_000

/**
 * Whoever gets this answer has its message dropped; only a statement that the database already has may take effect.
 */
export const unavailable = ApiError.of("service_unavailable", "the service cannot store anything right now; try again")

export const make = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  const waits = new Map<Deferred.Deferred<never, ApiError>, number>()

  const look = Effect.gen(function* () {
    yield* Effect.sleep(timeoutMs / 4)
    if (waits.size === 0 || !(yield* outage)) return
    const now = yield* Monotonic.now
    for (const [done, since] of waits) if (now - since >= timeoutMs) Deferred.doneUnsafe(done, Exit.fail(unavailable))
  })
  yield* Supervised.fork("the end of waits in an outage", Effect.forever(look))

  return {
    wait: <A>(done: Deferred.Deferred<A, ApiError>) =>
      Effect.flatMap(Monotonic.now, (now) => {
        // A failure fits a deferred of any success type.
        const entry = done as unknown as Deferred.Deferred<never, ApiError>
        waits.set(entry, now)
        return Effect.ensuring(
          Deferred.await(done),
          Effect.sync(() => waits.delete(entry))
        )
      })
  } satisfies AskTimeout
})
