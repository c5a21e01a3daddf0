import { Context, Effect } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"

/** The right of one request to write, which its caller may lose while the request is at work. */
export interface Permit {
  /** Gives the reason for which the request may not write any more; null when it may. It never fails and never dies. */
  readonly check: Effect.Effect<ApiError | null>
  /** The request has written. It is not refused any more, because work that has begun is brought to its end. */
  isUsed: boolean
}

/**
 * The permit of the request that a fiber works for; null: it works for the service or for the operator.
 *
 * Whatever writes for a request asks it as late as possible: a transaction before its COMMIT, an actor before its
 * commit, the journal before it takes a commit. So no feature asks by itself.
 */
export const WritePermit = Context.Reference<Permit | null>("trunkline/process/WritePermit", {
  defaultValue: () => null
})

/** A transaction was rolled back because its request may not write any more. `error` is the answer. */
export class WriteRefused extends Error {
  readonly error: ApiError
  constructor(error: ApiError) {
    super(`a request lost the right to write: ${error.message}`)
    this.error = error
  }
}

/** Gives the reason for which a request may not write now; null when it may. */
export const refusal = (permit: Permit | null): Effect.Effect<ApiError | null> =>
  permit === null || permit.isUsed ? Effect.succeed(null) : permit.check

/** Called when something of the request has been written. */
export const used = (permit: Permit | null): void => {
  if (permit !== null) permit.isUsed = true
}

/** Runs work that does not depend on the request that caused it. */
export const without = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, WritePermit, null)
