import { Context, type Effect, Schema } from "effect"
import { CallId, ConferenceId, LegId, TenantId, WorkId } from "../../domain/Id.ts"
import type { LocalFile } from "./Storage.ts"

/** What is to be known of a recording that a process left behind. */
export const Spooled = Schema.Struct({
  id: WorkId,
  callId: CallId,
  /** Of a room: it is told of the recording instead of the call. */
  conferenceId: Schema.optionalKey(ConferenceId),
  legId: LegId,
  tenantId: TenantId,
  channels: Schema.Literals(["single", "dual"]),
  format: Schema.Literals(["mp3", "wav"])
})
export type Spooled = typeof Spooled.Type

/** The disk does not take or give what it should (it is full), or an encoder cannot. */
export class SpoolError extends Schema.TaggedError<SpoolError>()("SpoolError", {
  reason: Schema.Literals(["storage_error", "internal_error"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/** How the samples are interleaved. */
export interface Shape {
  readonly sampleRate: number
  readonly channels: 1 | 2
}

export interface Writer {
  /** Appends interleaved samples, little-endian; when it succeeds, they survive the death of this process. */
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, SpoolError>
  /** Never fails; what was appended stays. */
  readonly close: Effect.Effect<void>
}

/** A recording as a file in its format. */
export interface Finished extends LocalFile {
  readonly durationMs: number
}

/**
 * Where recordings are written while they go on: a disk of this machine. One process uses it.
 */
export class Spool extends Context.Service<
  Spool,
  {
    readonly open: (recording: Spooled, shape: Shape) => Effect.Effect<Writer, SpoolError>
    /**
     * Makes the file of a recording that is no longer written, by this process or one that died: as WAV, or encoded.
     * Null: there is no sound. It may be called again.
     */
    readonly finish: (recording: Spooled) => Effect.Effect<Finished | null, SpoolError>
    /** What is there: at a start, what another process left. */
    readonly left: Effect.Effect<ReadonlyArray<Spooled>>
    /** Forgets it with all its files. */
    readonly remove: (id: WorkId) => Effect.Effect<void>
  }
>()("trunkline/storage/Spool") {}
