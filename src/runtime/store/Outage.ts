import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql/SqlError"
import * as AskTimeout from "../actor/AskTimeout.ts"
import type { ApiError } from "../../domain/ApiError.ts"

/**
 * SQLSTATEs (PostgreSQL, appendix A) of a server that cannot serve now and may later. 57P0x: it stops, starts or drops
 * this session; 53: it lacks room or connections; 58: its system fails; 25006: it has become a standby.
 */
const passing = /^(57P0|53|58|25006)/

/**
 * True when the database is unreachable or asks to try again: callers that can wait retry, others answer 503. Any other
 * error is a statement that the database refuses, which is a fault of ours.
 *
 * The kind and the code of an error decide, never its message, which may repeat what a tenant sent.
 */
export const is = (error: SqlError): boolean => {
  if (error.isRetryable || error.reason._tag === "AuthenticationError") return true
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause && passing.test(String(cause.code))
}

/** Whether the database was unreachable. */
export const isCause = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  return error instanceof SqlError && is(error)
}

const firstWaitMs = 200
const longestWaitMs = 2_000

/**
 * Repeats a read while the database is unreachable, for a caller that is no request and must not take its silence for
 * an answer: an actor that reads itself again, an event that looks for its entity. It can be interrupted.
 */
export const outlasted = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const attempt = (waitMs: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(read, (cause) =>
      isCause(cause)
        ? Effect.andThen(Effect.sleep(waitMs), attempt(Math.min(longestWaitMs, waitMs * 2)))
        : Effect.failCause(cause)
    )
  return attempt(firstWaitMs)
}

/** Logs a failure: as a warning when the database was unreachable, which passes, and otherwise as a fault of ours. */
export const logged = (message: string, cause: Cause.Cause<unknown>, about: object = {}): Effect.Effect<void> =>
  (isCause(cause) ? Effect.logWarning : Effect.logError)(message, about, cause)

/**
 * Answers a request with 503 while the database is unreachable, when nothing was written. Any other cause is a fault of
 * ours.
 */
export const unavailableOrDie = (cause: Cause.Cause<unknown>): Effect.Effect<never, ApiError> =>
  isCause(cause) ? Effect.fail(AskTimeout.unavailable) : Effect.die(Cause.squash(cause))
