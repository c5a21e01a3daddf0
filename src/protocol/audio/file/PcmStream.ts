import { Result } from "effect"
import * as PcmReader from "./PcmReader.ts"
import * as Wav from "./Wav.ts"

/** A stretch of linear sound of one channel, at its own rate. */
interface Stretch {
  readonly rate: number
  readonly samples: Int16Array
}

/** The format of a stream: raw samples, 16 bits little endian, one channel, of this rate; or a WAVE file of such. */
export type Shape = { readonly type: "pcm"; readonly rate: number } | { readonly type: "wav" }

interface PcmStream {
  /** Returns the samples in the next bytes, perhaps none yet. Failure: this is not a WAVE file of 16-bit PCM. */
  readonly push: (bytes: Uint8Array) => Result.Result<Stretch, "unsupported_format">
}

/** A longer header is not accepted. */
const mostHeader = 64 * 1024
const pcm = 1
const extensible = 0xfffe

/**
 * Reads sound from bytes as they come, cut at any place: a sample whose second byte is missing waits for it.
 *
 * In a WAVE file, all bytes after the head of the `data` chunk are sound, whatever length it states: a sender that
 * streams a file does not know the length, and writes 0, 0x7ffff000 or 0xffffffff. Channels are averaged.
 */
export const make = (shape: Shape): PcmStream => {
  let rest = new Uint8Array(0)
  let found = shape.type === "pcm" ? { rate: shape.rate, channels: 1 } : null

  const take = (rate: number, channels: number, bytes: Uint8Array): Stretch => {
    const width = 2 * channels
    const length = Math.floor(bytes.length / width)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const samples = new Int16Array(length)
    for (let i = 0; i < length; i++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++) sum += view.getInt16(i * width + 2 * channel, true)
      samples[i] = sum / channels
    }
    rest = bytes.slice(length * width)
    return { rate, samples }
  }

  return {
    push: (more) => {
      const bytes = joined(rest, more)
      if (found !== null) return Result.succeed(take(found.rate, found.channels, bytes))
      const head = headOf(bytes)
      if (head === "unsupported_format" || (head === null && bytes.length > mostHeader))
        return Result.fail("unsupported_format")
      if (head === null) {
        rest = bytes.slice()
        return Result.succeed({ rate: 0, samples: new Int16Array(0) })
      }
      found = head
      return Result.succeed(take(head.rate, head.channels, bytes.subarray(head.length)))
    }
  }
}

const joined = (rest: Uint8Array, more: Uint8Array): Uint8Array => {
  if (rest.length === 0) return more
  const all = new Uint8Array(rest.length + more.length)
  all.set(rest)
  all.set(more, rest.length)
  return all
}

/** Reads the head of a WAVE file and its length; null: it is not complete yet. */
const headOf = (
  bytes: Uint8Array
): { readonly rate: number; readonly channels: number; readonly length: number } | "unsupported_format" | null => {
  if (bytes.length < 12) return null
  if (!Wav.isWav(bytes)) return "unsupported_format"
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: { readonly rate: number; readonly channels: number } | null = null
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = PcmReader.fourCc(view, at)
    const start = at + 8
    const length = view.getUint32(at + 4, true)
    if (id === "data") return format === null ? "unsupported_format" : { ...format, length: start }
    if (id === "fmt ") {
      if (length < 16) return "unsupported_format"
      if (start + 16 > bytes.length) return null
      const tag = view.getUint16(start, true)
      const channels = view.getUint16(start + 2, true)
      const isPcm = tag === pcm || tag === extensible
      if (!isPcm || view.getUint16(start + 14, true) !== 16 || channels < 1 || channels > 8) return "unsupported_format"
      const rate = view.getUint32(start + 4, true)
      if (!PcmReader.isRate(rate)) return "unsupported_format"
      format = { rate, channels }
    }
    at = PcmReader.afterChunk(view, start, length)
  }
  return null
}
