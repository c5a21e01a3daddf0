import { Schema } from "effect"
import { CallId, ConferenceId, WorkId } from "../../domain/Id.ts"

/**
 * What the file of a recording is like. `dual`: the leg on the left, what it hears on the right; of a room: the host on
 * the left, all others and what is played to all on the right.
 */
export const shape = { channels: Schema.Literals(["single", "dual"]), format: Schema.Literals(["mp3", "wav"]) } as const

/**
 * Recording of a leg, or of a room. It goes on outside of the media thread, and its outcome may come long after the leg:
 * the recorder tells it to the call or the conference itself.
 */
export const commands = [
  /**
   * Records what is said and heard on the leg from its first sound on. It ends when it is stopped, with its leg, or after
   * `maxLengthMs` (null: neither is a bound). The beeps are heard by all.
   */
  Schema.Struct({
    type: Schema.tag("start_recording"),
    id: WorkId,
    /** Of a room: its host. */
    callId: CallId,
    /** Whose room is recorded, and who is told of it; absent: the call is. */
    conferenceId: Schema.optionalKey(ConferenceId),
    ...shape,
    maxLengthMs: Schema.NullOr(Schema.Finite),
    hasBeep: Schema.Boolean,
    beepEveryMs: Schema.NullOr(Schema.Finite)
  }),
  Schema.Struct({ type: Schema.tag("stop_recording"), recording: WorkId }),
  /** What is said between the two is silence in the file. */
  Schema.Struct({ type: Schema.tag("pause_recording"), recording: WorkId }),
  Schema.Struct({ type: Schema.tag("resume_recording"), recording: WorkId })
] as const

export const events = [
  /** Nothing more of the leg is recorded, though nobody asked for that; what is there will be stored. */
  Schema.Struct({ type: Schema.tag("recording_stopped"), id: WorkId }),
  /** It is stored, and can be downloaded at `downloadUrl` for some minutes. */
  Schema.Struct({
    type: Schema.tag("recording_stored"),
    id: WorkId,
    durationMs: Schema.Finite,
    sizeBytes: Schema.Finite,
    downloadUrl: Schema.String
  })
] as const

/**
 * Why a recording failed (`ended`): nothing was heard, it was lost with the process that made it, the disk or the store
 * refused it, or a fault of ours.
 */
export const failures = ["no_sound", "lost", "storage_error", "internal_error", "unsupported"] as const
