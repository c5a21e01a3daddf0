import { Schema } from "effect"
import { CallId, ConferenceId, WorkId } from "../../domain/Id.ts"

/**
 * The shape of a recording's file. `dual`: the leg on the left, the sound sent to it on the right; for a room: the host
 * on the left, all others and the sounds played to all on the right.
 */
export const shape = { channels: Schema.Literals(["single", "dual"]), format: Schema.Literals(["mp3", "wav"]) } as const

/**
 * Commands for recording a leg or a room. The work is done outside of the media thread, and its outcome may come long
 * after the leg: the recorder reports it to the call or the conference itself.
 */
export const commands = [
  /**
   * Records both directions of the leg from its first sound on. It ends when it is stopped, with its leg, after
   * `maxLengthMs` (null: no limit), or when no party has spoken for `silenceMs` (absent: no limit) outside of a pause.
   * All parties hear the beeps.
   */
  Schema.Struct({
    type: Schema.tag("start_recording"),
    id: WorkId,
    /** The call; for a room, that of its host. */
    callId: CallId,
    /** The conference whose room is recorded, and which gets the outcome; absent: the call does. */
    conferenceId: Schema.optionalKey(ConferenceId),
    ...shape,
    maxLengthMs: Schema.NullOr(Schema.Finite),
    silenceMs: Schema.optionalKey(Schema.Finite),
    /** The silence at its ends is left out of the file. */
    isTrimmed: Schema.optionalKey(Schema.Literal(true)),
    hasBeep: Schema.Boolean,
    beepEveryMs: Schema.NullOr(Schema.Finite)
  }),
  Schema.Struct({ type: Schema.tag("stop_recording"), recording: WorkId }),
  /** The sound between pause and resume is silence in the file. */
  Schema.Struct({ type: Schema.tag("pause_recording"), recording: WorkId }),
  Schema.Struct({ type: Schema.tag("resume_recording"), recording: WorkId })
] as const

export const events = [
  /** The recording has stopped without a command; its sound so far will be stored. */
  Schema.Struct({ type: Schema.tag("recording_stopped"), id: WorkId }),
  /** The recording is stored, and can be downloaded at `downloadUrl` for some minutes. */
  Schema.Struct({
    type: Schema.tag("recording_stored"),
    id: WorkId,
    durationMs: Schema.Finite,
    sizeBytes: Schema.Finite,
    downloadUrl: Schema.String
  })
] as const
