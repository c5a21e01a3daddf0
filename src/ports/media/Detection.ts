import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"

/** Detection of answering machines. */
export const commands = [
  /** Listens to what the far end says before it answers, and tells nothing of it: `detect_machine` goes on with it. */
  Schema.Struct({ type: Schema.tag("listen_early") }),
  /**
   * The far end has answered, and is listened to from now on: `machine_detected` once, `machine_beeped` at most once
   * behind it, then it has `ended`. Idempotent while it listens.
   */
  Schema.Struct({ type: Schema.tag("detect_machine"), id: WorkId })
] as const

/** Who or what answered. `silence`: nobody spoke. `not_sure`: it could not be told. */
export const Verdict = Schema.Literals(["human_residence", "human_business", "machine", "fax", "silence", "not_sure"])
export type Verdict = typeof Verdict.Type

export const events = [
  /** It is known who answered; `hasBeep`: by the beep of a machine, which is not told again. */
  Schema.Struct({
    type: Schema.tag("machine_detected"),
    id: WorkId,
    verdict: Verdict,
    hasBeep: Schema.Boolean,
    at: Schema.Finite
  }),
  /** A machine has beeped, whatever was told before. */
  Schema.Struct({ type: Schema.tag("machine_beeped"), id: WorkId, at: Schema.Finite })
] as const
