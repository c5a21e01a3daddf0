import type { Piece } from "../../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import type { AudioFile, AudioUnreadable } from "../../sound/AudioDecoder.ts"

/** A message to a decoding thread. It gets one `next` at a time. */
export type ToDecoder =
  | { readonly type: "open"; readonly id: number; readonly file: AudioFile; readonly rate: SampleRate }
  | { readonly type: "next"; readonly id: number }
  | { readonly type: "close"; readonly id: number }

/** `ready` comes first. */
export type FromDecoder = { readonly type: "ready" } | Turn

/**
 * The answer to `next`, with the CPU time of the turn, and that of the thread since its start. `more`: the piece is not
 * ready, and the turn is over.
 */
export type Turn = { readonly id: number; readonly cpuMs: number; readonly threadMs: number } & (
  | { readonly type: "piece"; readonly piece: Piece }
  | { readonly type: "more" }
  | { readonly type: "fault"; readonly reason: AudioUnreadable["reason"] }
)
