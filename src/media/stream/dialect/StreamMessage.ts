import type { WorkId } from "../../../domain/Id.ts"
import type { Pinned } from "../../../ports/egress/Pinned.ts"

/** The messages between the streams of the media thread and `StreamErrands.ts`, which works for them outside of it. */

/** A request of a stream. */
export type StreamAsk =
  /** Requests the checked addresses of its server; answered by `stream_reached` or `stream_unreachable`. */
  | { readonly type: "stream_reach"; readonly id: WorkId; readonly url: string; readonly timeoutMs: number }
  /**
   * Requests the sound of an MP3 file at 16 kHz; answered by `stream_sound` until the last piece, or by
   * `stream_sound_failed`. A stream requests one file at a time; `file` counts them.
   */
  | { readonly type: "stream_decode"; readonly id: WorkId; readonly file: number; readonly bytes: Uint8Array }

export type StreamAnswer =
  | { readonly type: "stream_reached"; readonly id: WorkId; readonly pinned: Pinned }
  /** `isFinal`: another attempt does not help. */
  | { readonly type: "stream_unreachable"; readonly id: WorkId; readonly detail: string; readonly isFinal: boolean }
  /** Samples may be backed by shared memory, and are only read. */
  | {
      readonly type: "stream_sound"
      readonly id: WorkId
      readonly file: number
      readonly samples: Int16Array
      readonly isLast: boolean
    }
  | { readonly type: "stream_sound_failed"; readonly id: WorkId; readonly file: number }

/** The rate of the sound of files. */
export const fileRate = 16_000
