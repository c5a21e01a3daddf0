import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/** Digits, in both directions. */
export const commands = [
  /**
   * Queues digits (0-9, A-D, `*`, `#`), each `durationMs` long, and pauses (`w` 500 ms, `W` 1 s); the sound waits
   * meanwhile. `ended` comes once.
   */
  Schema.Struct({
    type: Schema.tag("send_dtmf"),
    id: WorkId,
    digits: Secret.digits(Schema.String),
    durationMs: Schema.Finite
  })
] as const

export const events = [
  /** The far end pressed a digit; `at` is its beginning, in the time of the event that carries it. */
  Schema.Struct({ type: Schema.tag("dtmf"), digit: Secret.digits(Schema.String), at: Schema.Finite })
] as const
