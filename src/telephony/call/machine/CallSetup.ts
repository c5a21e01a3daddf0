import { Schema } from "effect"
import type { Kind } from "../../../domain/WorkPrice.ts"
import * as StreamMessages from "../../../ports/media/StreamMessages.ts"

/**
 * The work that a call begins by itself, as it was asked to when it was placed or answered: each family of verbs begins
 * its own part (`Family.begins`).
 */
export const CallSetup = Schema.Struct({
  /** When recording begins. `on_demand`: only on request, and then with `recordChannels` and `recordFormat`. */
  record: Schema.Literals(["off", "on_answer", "on_ringing", "on_demand"]),
  recordChannels: Schema.Literals(["single", "dual"]),
  recordFormat: Schema.Literals(["mp3", "wav"]),
  machineDetection: Schema.Literals(["off", "premium"]),
  /** The media stream that is connected while the call is answered; null: none. */
  stream: Schema.NullOr(StreamMessages.Options)
})
export type CallSetup = typeof CallSetup.Type

/** The plan of a call that begins nothing by itself. */
export const nothing: CallSetup = {
  record: "off",
  recordChannels: "single",
  recordFormat: "mp3",
  machineDetection: "off",
  stream: null
}

/** The kinds of work that will begin by themselves and may cost money. */
export const kinds = ({ machineDetection, record }: CallSetup): ReadonlyArray<Kind> => [
  ...(record === "on_answer" || record === "on_ringing" ? (["recording"] as const) : []),
  ...(machineDetection === "premium" ? (["machine_detection"] as const) : [])
]

/** The plan of an inbound call, from the recording settings of its number. */
export const ofNumber = (recording: {
  readonly enabled: boolean
  readonly format: CallSetup["recordFormat"]
  readonly channels: CallSetup["recordChannels"]
}): CallSetup =>
  recording.enabled
    ? { ...nothing, record: "on_answer", recordChannels: recording.channels, recordFormat: recording.format }
    : nothing

/**
 * The plan of an inbound call that is answered: the settings of the answer, or else those of its number. `record` takes
 * the values of both vocabularies.
 */
export const answered = (
  plan: CallSetup,
  asked: {
    readonly record?: "off" | "on_answer" | "record-from-answer"
    readonly recordChannels: CallSetup["recordChannels"]
    readonly recordFormat: CallSetup["recordFormat"]
  }
): CallSetup => {
  if (asked.record === undefined) return plan
  return asked.record === "off"
    ? { ...plan, record: "off" }
    : { ...plan, record: "on_answer", recordChannels: asked.recordChannels, recordFormat: asked.recordFormat }
}
