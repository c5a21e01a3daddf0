import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"

/** Detection of answering machines. */
export const commands = [
  /** Listens to the far end before the answer and reports nothing; `detect_machine` uses that sound. */
  Schema.Struct({ type: Schema.tag("listen_early") }),
  /**
   * Begins the detection after the answer: `machine_detected` comes once, `machine_beeped` at most once after it, then
   * `ended`. Idempotent while it listens.
   */
  Schema.Struct({ type: Schema.tag("detect_machine"), id: WorkId })
] as const

/** The kind of party that answered. `silence`: no speech. `not_sure`: no decision was possible. */
export const Verdict = Schema.Literals(["human_residence", "human_business", "machine", "fax", "silence", "not_sure"])
export type Verdict = typeof Verdict.Type

export const events = [
  /** The verdict is known; `hasBeep`: by the beep of a machine, which is not reported again. */
  Schema.Struct({
    type: Schema.tag("machine_detected"),
    id: WorkId,
    verdict: Verdict,
    hasBeep: Schema.Boolean,
    at: Schema.Finite
  }),
  /** A machine has beeped, whatever the verdict was. */
  Schema.Struct({ type: Schema.tag("machine_beeped"), id: WorkId, at: Schema.Finite })
] as const
