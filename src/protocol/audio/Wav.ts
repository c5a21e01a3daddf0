import { Result } from "effect"
import * as G711 from "./codec/G711.ts"

/** Sound of one channel. */
export interface Sound {
  readonly sampleRate: number
  readonly samples: Int16Array
}

/** `unsupported_format`: not a RIFF WAVE, or a coding or a number out of range; `empty`: no sample in it. */
type Fault = "unsupported_format" | "empty"

const formats = { pcm: 1, aLaw: 6, muLaw: 7, extensible: 0xfffe } as const

interface Format {
  readonly tag: number
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

const fourCc = (view: DataView, at: number) =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))

/** Whether bytes begin like a WAVE file. */
export const isWav = (bytes: Uint8Array): boolean => {
  if (bytes.length < 12) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return fourCc(view, 0) === "RIFF" && fourCc(view, 8) === "WAVE"
}

const readFormat = (view: DataView, at: number, length: number): Format | null => {
  if (length < 16) return null
  const little = view.getUint16(at, true)
  // The subformat GUID of an extensible header begins with the format tag.
  const real = little === formats.extensible && length >= 26 ? view.getUint16(at + 24, true) : little
  const format = {
    tag: real,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true)
  }
  return format.channels >= 1 && format.sampleRate >= 4000 && format.sampleRate <= 192_000 ? format : null
}

type Sample = (view: DataView, at: number) => number

/** Returns a reader of one sample, scaled to 16 bits, by coding and width. */
const sampleReader = ({ bits, tag }: Format): Sample | null => {
  if (tag === formats.pcm && bits === 8) return (view, at) => (view.getUint8(at) - 128) << 8
  if (tag === formats.pcm && bits === 16) return (view, at) => view.getInt16(at, true)
  if (tag === formats.pcm && bits === 24) return (view, at) => view.getInt16(at + 1, true)
  if ((tag === formats.muLaw || tag === formats.aLaw) && bits === 8) {
    const law = tag === formats.muLaw ? "PCMU" : "PCMA"
    const linear = G711.decode(
      law,
      Uint8Array.from({ length: 256 }, (_, octet) => octet)
    )
    return (view, at) => linear[view.getUint8(at)] ?? 0
  }
  return null
}

/** The samples of a file, read on demand. */
export interface Reader {
  readonly sampleRate: number
  /** The number of samples, at least one. */
  readonly length: number
  /** Returns up to `count` samples from `from` on. */
  readonly read: (from: number, count: number) => Int16Array
}

/**
 * Opens a WAVE file of PCM (8, 16 or 24 bits), mu-law or A-law as one channel, the mean of all.
 *
 * A data length beyond the end of the file is cut to the existing bytes: streamed files state 0, 0x7ffff000 or
 * 0xffffffff.
 */
export const open = (bytes: Uint8Array): Result.Result<Reader, Fault> => {
  if (!isWav(bytes)) return Result.fail("unsupported_format")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: Format | null = null
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = fourCc(view, at)
    const stated = view.getUint32(at + 4, true)
    const start = at + 8
    const length = Math.min(stated, bytes.length - start)
    if (id === "fmt ") {
      format = readFormat(view, start, length)
      if (format === null) return Result.fail("unsupported_format")
    }
    if (id === "data") {
      if (format === null) return Result.fail("unsupported_format")
      return openData(view, start, stated === 0 ? bytes.length - start : length, format)
    }
    at = start + stated + (stated & 1)
  }
  return Result.fail(format === null ? "unsupported_format" : "empty")
}

/** Reads a whole file. */
export const read = (bytes: Uint8Array): Result.Result<Sound, Fault> =>
  Result.map(open(bytes), ({ length, read, sampleRate }) => ({ sampleRate, samples: read(0, length) }))

const openData = (view: DataView, start: number, octets: number, format: Format): Result.Result<Reader, Fault> => {
  const sample = sampleReader(format)
  if (sample === null) return Result.fail("unsupported_format")
  const { channels, sampleRate } = format
  const width = format.bits >> 3
  const length = Math.floor(octets / (width * channels))
  if (length === 0) return Result.fail("empty")
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

export const headerLength = 44

/** The longest data that the 32-bit lengths of a WAVE file can state. */
const maxDataLength = 0xffff_ffff - headerLength

/**
 * The 44 bytes before interleaved 16-bit PCM.
 *
 * A writer that streams puts `header(shape, 0)` first, and at the end overwrites it with the final length; a file that
 * was cut short can still be read to its end.
 */
export const header = (
  shape: { readonly sampleRate: number; readonly channels: number },
  dataLength: number
): Uint8Array => {
  const bytes = new Uint8Array(headerLength)
  const view = new DataView(bytes.buffer)
  const put = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at)
  const length = Math.min(dataLength, maxDataLength)
  put(0, "RIFF")
  view.setUint32(4, length + headerLength - 8, true)
  put(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, formats.pcm, true)
  view.setUint16(22, shape.channels, true)
  view.setUint32(24, shape.sampleRate, true)
  view.setUint32(28, shape.sampleRate * shape.channels * 2, true)
  view.setUint16(32, shape.channels * 2, true)
  view.setUint16(34, 16, true)
  put(36, "data")
  view.setUint32(40, length, true)
  return bytes
}

/** Samples as the little-endian bytes that follow the header. */
export const data = (samples: Int16Array): Uint8Array => {
  const bytes = new Uint8Array(samples.length * 2)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < samples.length; i++) view.setInt16(2 * i, samples[i] ?? 0, true)
  return bytes
}

/** Writes a whole file. */
export const write = ({ sampleRate, samples }: Sound): Uint8Array => {
  const bytes = new Uint8Array(headerLength + samples.length * 2)
  bytes.set(header({ sampleRate, channels: 1 }, samples.length * 2))
  bytes.set(data(samples), headerLength)
  return bytes
}
