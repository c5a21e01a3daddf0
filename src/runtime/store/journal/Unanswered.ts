import type { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/**
 * The reason why a statement has no answer: its connection was lost, or was given up after the statement's deadline, or
 * there was none. It is the cause within the `SqlError`, and `Outage.is` holds for it.
 */
export class Unanswered extends Error {
  /** False: the database never got the statement. */
  readonly wasSent: boolean
  /** The deadline passed on an open connection: the statement may be too large, or wait for a lock. */
  readonly wasSlow: boolean
  /**
   * Ends the session of the statement, and completes when it is gone. From then on the effects of the statement are
   * final. It fails while the database is unreachable.
   */
  readonly ended: Effect.Effect<void, SqlError>

  constructor(
    message: string,
    of: {
      readonly wasSent: boolean
      readonly wasSlow: boolean
      readonly ended: Effect.Effect<void, SqlError>
      readonly cause?: unknown
    }
  ) {
    super(message, { cause: of.cause })
    this.wasSent = of.wasSent
    this.wasSlow = of.wasSlow
    this.ended = of.ended
  }
}

/** Null: the database answered, or the client cannot distinguish the cases. */
export const of = (error: SqlError): Unanswered | null => {
  const { cause } = error.reason
  return cause instanceof Unanswered ? cause : null
}
