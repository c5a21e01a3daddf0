import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Detection from "./Detection.ts"
import * as Digits from "./Digits.ts"
import * as Playback from "./Playback.ts"
import * as Recording from "./Recording.ts"
import * as Ringback from "./Ringback.ts"
import * as Stream from "./Stream.ts"
import * as Transcription from "./Transcription.ts"

/**
 * A command of a call to the media of a leg, which passes the carrier port unopened.
 *
 * Plain data with a schema, because it is journaled with the call's inputs and may cross a process: no functions, no
 * samples. A carrier hands it to the media plane and back; only a carrier with media of its own opens it. Each kind of
 * work has its messages in a separate file.
 */
export const MediaCommand = Schema.Union([
  ...Playback.commands,
  ...Ringback.commands,
  ...Digits.commands,
  ...Detection.commands,
  ...Recording.commands,
  ...Stream.commands,
  ...Transcription.commands
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
  ...Digits.events,
  ...Detection.events,
  ...Recording.events,
  ...Stream.events,
  ...Transcription.events,
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
