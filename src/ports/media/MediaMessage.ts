import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as DetectionMessages from "./DetectionMessages.ts"
import * as DigitMessages from "./DigitMessages.ts"
import * as PlaybackMessages from "./PlaybackMessages.ts"
import * as RecordingMessages from "./RecordingMessages.ts"
import * as RingbackMessages from "./RingbackMessages.ts"
import * as StreamMessages from "./StreamMessages.ts"
import * as TranscriptionMessages from "./TranscriptionMessages.ts"

/**
 * A command of a call to the media of a leg, which passes the carrier port unopened.
 *
 * Plain data with a schema, because it is journaled with the call's inputs and may cross a process: no functions, no
 * samples. A carrier hands it to the media plane and back; only a carrier with media of its own opens it. Each kind of
 * work has its messages in a separate file.
 */
export const MediaCommand = Schema.Union([
  ...PlaybackMessages.commands,
  ...RingbackMessages.commands,
  ...DigitMessages.commands,
  ...DetectionMessages.commands,
  ...RecordingMessages.commands,
  ...StreamMessages.commands,
  ...TranscriptionMessages.commands
])
export type MediaCommand = typeof MediaCommand.Type

/**
 * Commands whose work is done outside of the media thread, over captures (`media/capture/`): an attendant carries them
 * out (`MediaPlane.attend`).
 */
const attendedTypes = [
  "start_recording",
  "stop_recording",
  "pause_recording",
  "resume_recording",
  "start_transcription",
  "stop_transcription"
] as const
export type Attended = Extract<MediaCommand, { readonly type: (typeof attendedTypes)[number] }>
export const isAttended = (media: MediaCommand): media is Attended => attendedTypes.some((type) => type === media.type)

/** The end of work that a command began. `reason` is set with `failed`, and with `stopped` without a command. */
export const MediaEnded = Schema.Struct({
  type: Schema.tag("ended"),
  /** The id of the command that began it. */
  id: WorkId,
  status: Schema.Literals(["completed", "stopped", "failed"]),
  reason: Schema.NullOr(Schema.String)
})
export type MediaEnded = typeof MediaEnded.Type

/** An event of the media of a leg: digits, ends, and reports of running work, with the `id` of its command. */
export const MediaEvent = Schema.Union([
  ...DigitMessages.events,
  ...DetectionMessages.events,
  ...RecordingMessages.events,
  ...StreamMessages.events,
  ...TranscriptionMessages.events,
  MediaEnded
])
export type MediaEvent = typeof MediaEvent.Type

/** Returns the same event with its times converted to another clock. */
export const inTime = (event: MediaEvent, of: (at: number) => number): MediaEvent =>
  "at" in event ? { ...event, at: of(event.at) } : event

/** Whether a full queue may drop the event: no work waits for it, and a peer can send any number of them. */
export const mayBeDropped = (event: MediaEvent): boolean => event.type === "dtmf"

/** The outcome of a command that cannot be carried out; `null`: it has none. */
export const failureOf = (command: MediaCommand, reason: string): MediaEnded | null =>
  "id" in command ? { type: "ended", id: command.id, status: "failed", reason } : null
