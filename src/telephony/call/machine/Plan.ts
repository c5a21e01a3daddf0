import { Schema } from "effect"
import type { Kind } from "../../../domain/WorkPrice.ts"
import * as Stream from "../../../ports/media/Stream.ts"

/**
 * What a call was asked to do by itself when it was placed or answered: each family of verbs begins its own part
 * (`Family.begins`).
 */
export const Plan = Schema.Struct({
  /** When recording begins. `on_demand`: never by itself, but then as `recordChannels` and `recordFormat` say. */
  record: Schema.Literals(["off", "on_answer", "on_ringing", "on_demand"]),
  recordChannels: Schema.Literals(["single", "dual"]),
  recordFormat: Schema.Literals(["mp3", "wav"]),
  machineDetection: Schema.Literals(["off", "premium"]),
  /** The stream that is connected while the call is answered; null: none. */
  stream: Schema.NullOr(Stream.Options)
})
export type Plan = typeof Plan.Type

/** Of a call that was asked for nothing. */
export const nothing: Plan = {
  record: "off",
  recordChannels: "single",
  recordFormat: "mp3",
  machineDetection: "off",
  stream: null
}

/** The kinds of work that will begin by themselves, and may cost something. */
export const kinds = ({ machineDetection, record }: Plan): ReadonlyArray<Kind> => [
  ...(record === "on_answer" || record === "on_ringing" ? (["recording"] as const) : []),
  ...(machineDetection === "premium" ? (["machine_detection"] as const) : [])
]

/** Of an inbound call whose number says how such calls are recorded. */
export const ofNumber = (recording: {
  readonly enabled: boolean
  readonly format: Plan["recordFormat"]
  readonly channels: Plan["recordChannels"]
}): Plan =>
  recording.enabled
    ? { ...nothing, record: "on_answer", recordChannels: recording.channels, recordFormat: recording.format }
    : nothing

/**
 * Of an inbound call that is answered: what its answer asks for, or else its number. `record`: the values of both
 * vocabularies.
 */
export const answered = (
  plan: Plan,
  asked: {
    readonly record?: "off" | "on_answer" | "record-from-answer"
    readonly recordChannels: Plan["recordChannels"]
    readonly recordFormat: Plan["recordFormat"]
  }
): Plan => {
  if (asked.record === undefined) return plan
  return asked.record === "off"
    ? { ...plan, record: "off" }
    : { ...plan, record: "on_answer", recordChannels: asked.recordChannels, recordFormat: asked.recordFormat }
}
