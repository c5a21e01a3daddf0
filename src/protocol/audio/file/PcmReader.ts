import { Result } from "effect"
import * as G711 from "../codec/G711.ts"

/** Sound of one channel. */
export interface Sound {
  readonly sampleRate: number
  readonly samples: Int16Array
}

/** The samples of a file, read on demand. */
export interface PcmReader {
  readonly sampleRate: number
  /** The number of samples, at least one. */
  readonly length: number
  /** Returns up to `count` samples from `from` on. */
  readonly read: (from: number, count: number) => Int16Array
}

/** How one sample is written. `unsigned` and the laws have 8 bits. */
export interface Coding {
  readonly type: "unsigned" | "signed" | "float" | "mu-law" | "a-law"
  readonly bits: number
  readonly isLittleEndian: boolean
}

/** Interleaved samples of a coding, and the rate in samples a second. */
export interface Format {
  readonly coding: Coding
  readonly channels: number
  readonly sampleRate: number
}

/** Floating point samples as 16 bits. A value that is no number is silence. */
export const ofFloat = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768))) || 0

type Sample = (view: DataView, at: number) => number

/** Returns a reader of one sample, scaled to 16 bits; null: there is no such coding. */
const sampleReader = ({ bits, isLittleEndian, type }: Coding): Sample | null => {
  switch (`${type} ${bits}`) {
    case "unsigned 8":
      return (view, at) => (view.getUint8(at) - 128) << 8
    case "signed 8":
      return (view, at) => view.getInt8(at) << 8
    case "signed 16":
      return (view, at) => view.getInt16(at, isLittleEndian)
    case "signed 24":
      return isLittleEndian ? (view, at) => view.getInt16(at + 1, true) : (view, at) => view.getInt16(at, false)
    case "signed 32":
      return isLittleEndian ? (view, at) => view.getInt16(at + 2, true) : (view, at) => view.getInt16(at, false)
    case "float 32":
      return (view, at) => ofFloat(view.getFloat32(at, isLittleEndian))
    case "float 64":
      return (view, at) => ofFloat(view.getFloat64(at, isLittleEndian))
    case "mu-law 8":
    case "a-law 8": {
      const octets = Uint8Array.from({ length: 256 }, (_, octet) => octet)
      const linear = G711.decode(type === "mu-law" ? "PCMU" : "PCMA", octets)
      return (view, at) => linear[view.getUint8(at)] ?? 0
    }
    default:
      return null
  }
}

/** Whether a rate is that of a sound. The memory of a resampler grows with the ratio of its rates. */
export const isRate = (sampleRate: number): boolean => sampleRate >= 4000 && sampleRate <= 192_000

/** Reads `octets` from `start` on as one channel, the mean of all. */
export const make = (
  view: DataView,
  start: number,
  octets: number,
  format: Format
): Result.Result<PcmReader, "unsupported_format" | "empty"> => {
  const sample = sampleReader(format.coding)
  if (sample === null || format.channels < 1 || !isRate(format.sampleRate)) return Result.fail("unsupported_format")
  const { channels, sampleRate } = format
  const width = format.coding.bits >> 3
  const length = Math.floor(octets / (width * channels))
  if (length <= 0) return Result.fail("empty")
  const read = (from: number, count: number): Int16Array => {
    const samples = new Int16Array(Math.max(0, Math.min(count, length - from)))
    for (let i = 0, at = start + from * width * channels; i < samples.length; i++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++, at += width) sum += sample(view, at)
      samples[i] = sum / channels
    }
    return samples
  }
  return Result.succeed({ sampleRate, length, read })
}

/** The four characters at `at`, by which the chunks of such files are named; "" at the end of the file. */
export const fourCc = (view: DataView, at: number): string =>
  at + 4 > view.byteLength
    ? ""
    : String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))

/** The chunks that most files have. */
const usualChunks = ["fmt ", "data", "ds64", "fact", "LIST", "JUNK", "COMM", "SSND"]

/**
 * Where the chunk after one of `length` octets begins. A chunk of odd length is followed by an octet of padding, which
 * some writers leave out: then the name of the next chunk is where the padding should be. The padding should be zero,
 * but other writers put any octet there, and a letter before a name looks like a name, too.
 */
export const afterChunk = (view: DataView, start: number, length: number): number => {
  const end = start + length
  if (length % 2 === 0) return end
  const isName = /^[A-Za-z][\w ]{3}$/u.test(fourCc(view, end))
  return isName && !usualChunks.includes(fourCc(view, end + 1)) ? end : end + 1
}
