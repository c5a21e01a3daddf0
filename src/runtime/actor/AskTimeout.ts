import { Clock, Deferred, Effect, Exit, Latch } from "effect"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Supervised from "../process/Supervised.ts"

/**
 * Ends waits that an outage would make endless: while `outage` is true, a caller that has waited 2 s gets 503. Its
 * request is withdrawn: it has not happened, and it will not.
 *
 * So a message is refused only while it waits in a mailbox, or for its turn to be written. As soon as the database may
 * have it (`claim`), the caller waits for the answer. One fiber watches all waits, so a wait costs a map entry and no
 * timer.
 */
export interface AskTimeout {
  readonly wait: <A>(done: Deferred.Deferred<A, ApiError>) => Effect.Effect<A, ApiError>
  /**
   * Called before this caller's request goes to the database. True: the caller is not refused any more. It is called
   * again when the database is known not to have the request, and is then false once the caller has waited long enough.
   * A caller that does not wait is never refused.
   */
  readonly claim: <A>(done: Deferred.Deferred<A, ApiError>) => boolean
}

const timeoutMs = 2_000

/** The answer to a caller whose request is withdrawn. */
export const unavailable = ApiError.of("service_unavailable", "the service cannot store anything right now; try again")

interface Wait {
  readonly since: number
  isClaimed: boolean
}

export const make = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  const clock = yield* Clock.Clock
  const waits = new Map<Deferred.Deferred<never, ApiError>, Wait>()
  /** Callers that will wait, or have stopped waiting before the answer, because a claim may come at any time. */
  const known = new WeakMap<Deferred.Deferred<never, ApiError>, Wait>()
  /** Open while a caller waits, and a little longer. */
  const waited = Latch.makeUnsafe(false)
  // The key is only ever failed, and a failure fits a deferred of any success type.
  const keyOf = <A>(done: Deferred.Deferred<A, ApiError>) => done as unknown as Deferred.Deferred<never, ApiError>
  const waitOf = (entry: Deferred.Deferred<never, ApiError>, now: number): Wait =>
    waits.get(entry) ?? known.get(entry) ?? { since: now, isClaimed: false }

  const look = Effect.gen(function* () {
    yield* Latch.await(waited)
    yield* Effect.sleep(timeoutMs / 4)
    if (waits.size === 0) return void Latch.closeUnsafe(waited)
    if (!(yield* outage)) return
    const now = yield* Monotonic.now
    for (const [done, { isClaimed, since }] of waits)
      if (!isClaimed && now - since >= timeoutMs) Deferred.doneUnsafe(done, Exit.fail(unavailable))
  })
  yield* Supervised.fork("the end of waits in an outage", Effect.forever(look))

  return {
    wait: (done) =>
      Effect.flatMap(Monotonic.now, (now) => {
        const entry = keyOf(done)
        const wait = waitOf(entry, now)
        waits.set(entry, wait)
        Latch.openUnsafe(waited)
        return Effect.ensuring(
          Deferred.await(done),
          Effect.sync(() => {
            waits.delete(entry)
            // Nearly always the answer has ended the wait, and no claim follows.
            if (!Deferred.isDoneUnsafe(done)) known.set(entry, wait)
          })
        )
      }),
    claim: (done) => {
      if (Deferred.isDoneUnsafe(done)) return false
      const now = Monotonic.read(clock)
      const entry = keyOf(done)
      const wait = waitOf(entry, now)
      if (!waits.has(entry)) known.set(entry, wait)
      if (wait.isClaimed && now - wait.since >= timeoutMs) return false
      wait.isClaimed = true
      return true
    }
  } satisfies AskTimeout
})
