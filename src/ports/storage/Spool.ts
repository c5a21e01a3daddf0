import { Context, type Effect, Schema } from "effect"
import { CallId, ConferenceId, LegId, TenantId, WorkId } from "../../domain/Id.ts"
import type { LocalFile } from "./Storage.ts"

/** The description of a recording, kept for the case that its process dies. */
export const Spooled = Schema.Struct({
  id: WorkId,
  callId: CallId,
  /** Set for a recording of a conference, which is notified of it instead of the call. */
  conferenceId: Schema.optionalKey(ConferenceId),
  legId: LegId,
  tenantId: TenantId,
  channels: Schema.Literals(["single", "dual"]),
  format: Schema.Literals(["mp3", "wav"]),
  /** The silence at its ends is left out of its file. */
  isTrimmed: Schema.optionalKey(Schema.Literal(true))
})
export type Spooled = typeof Spooled.Type

/** The disk cannot be written or read (it is full), or an encoder failed. */
export class SpoolError extends Schema.TaggedError<SpoolError>()("SpoolError", {
  reason: Schema.Literals(["storage_error", "internal_error"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/** The layout of the interleaved samples. */
export interface Shape {
  readonly sampleRate: number
  readonly channels: 1 | 2
}

export interface Writer {
  /** Appends interleaved samples, little-endian. When it succeeds, they survive the death of this process. */
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, SpoolError>
  /** Closes the file and never fails; the appended samples stay. */
  readonly close: Effect.Effect<void>
}

/** A recording as a file in its format. */
export interface Finished extends LocalFile {
  readonly durationMs: number
}

/** The place on a local disk where recordings are written while they are made. One process uses it. */
export class Spool extends Context.Service<
  Spool,
  {
    readonly open: (recording: Spooled, shape: Shape) => Effect.Effect<Writer, SpoolError>
    /**
     * Makes the file of a recording that is no longer written, whether by this process or by one that died: as WAV, or
     * encoded. Null: there is no sound. It may be called again.
     */
    readonly finish: (recording: Spooled) => Effect.Effect<Finished | null, SpoolError>
    /** The recordings in the spool; at a start, those that another process left. */
    readonly left: Effect.Effect<ReadonlyArray<Spooled>>
    readonly remove: (id: WorkId) => Effect.Effect<void>
  }
>()("trunkline/storage/Spool") {}
