import * as Limiter from "../../protocol/audio/Limiter.ts"
import type { Chunk } from "../../media/capture/Capture.ts"
import { lengthAt } from "../../media/Frame.ts"

/**
 * Makes interleaved little-endian samples of the two tracks of a recording: each on its channel, or both mixed on one,
 * limited where they are too loud together. It keeps the state of the limiter between chunks.
 */
export const make = (channels: "single" | "dual") => {
  const limiter = Limiter.make()

  const mixed = ({ rate, tracks: [left, right] }: Chunk, out: Int16Array): void => {
    const frame = lengthAt(rate)
    const sum = new Int32Array(frame)
    for (let from = 0; from < out.length; from += frame) {
      for (let i = 0; i < frame; i++) sum[i] = (left?.[from + i] ?? 0) + (right?.[from + i] ?? 0)
      limiter.process(sum, out.subarray(from, from + frame), rate)
    }
  }

  const interleaved = ({ tracks: [left, right] }: Chunk, out: Int16Array): void => {
    for (let i = 0; 2 * i < out.length; i++) {
      out[2 * i] = left?.[i] ?? 0
      out[2 * i + 1] = right?.[i] ?? 0
    }
  }

  /** The first `frames` samples of the chunk. */
  return (chunk: Chunk, frames: number): Uint8Array => {
    const out = new Int16Array(frames * (channels === "dual" ? 2 : 1))
    if (channels === "dual") interleaved(chunk, out)
    else mixed(chunk, out)
    const bytes = new Uint8Array(out.buffer)
    if (!isLittleEndian)
      for (let i = 0; i < out.length; i++) new DataView(out.buffer).setInt16(2 * i, out[i] ?? 0, true)
    return bytes
  }
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
