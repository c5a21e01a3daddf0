import { Result } from "effect"
import * as PcmReader from "./PcmReader.ts"

/** `unsupported_format`: not a RIFF WAVE, or a coding or a number out of range; `empty`: no sample in it. */
type Fault = "unsupported_format" | "empty"

const formats = { pcm: 1, float: 3, aLaw: 6, muLaw: 7, extensible: 0xfffe } as const

/** Whether bytes begin like a WAVE file. RF64 and BW64 are WAVE files with lengths of 64 bits (EBU Tech 3306). */
export const isWav = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return ["RIFF", "RF64", "BW64"].includes(PcmReader.fourCc(view, 0)) && PcmReader.fourCc(view, 8) === "WAVE"
}

const codingOf = (tag: number, bits: number): PcmReader.Coding | null => {
  switch (tag) {
    case formats.pcm:
      return { type: bits === 8 ? "unsigned" : "signed", bits, isLittleEndian: true }
    case formats.float:
      return { type: "float", bits, isLittleEndian: true }
    case formats.muLaw:
      return { type: "mu-law", bits, isLittleEndian: true }
    case formats.aLaw:
      return { type: "a-law", bits, isLittleEndian: true }
    default:
      return null
  }
}

const readFormat = (view: DataView, at: number, length: number): PcmReader.Format | null => {
  if (length < 16) return null
  const stated = view.getUint16(at, true)
  // The subformat GUID of an extensible header begins with the format tag.
  const tag = stated === formats.extensible && length >= 26 ? view.getUint16(at + 24, true) : stated
  const coding = codingOf(tag, view.getUint16(at + 14, true))
  if (coding === null) return null
  return { coding, channels: view.getUint16(at + 2, true), sampleRate: view.getUint32(at + 4, true) }
}

/**
 * Opens a WAVE file of PCM (8, 16, 24 or 32 bits), floating point numbers (32 or 64 bits), mu-law or A-law as one
 * channel, the mean of all.
 *
 * A data length beyond the end of the file is cut to the existing bytes: streamed files state 0, 0x7ffff000 or
 * 0xffffffff, and RF64 files state 0xffffffff and the real length in a chunk of its own. Such files end with their
 * sound.
 */
export const open = (bytes: Uint8Array): Result.Result<PcmReader.PcmReader, Fault> => {
  if (!isWav(bytes)) return Result.fail("unsupported_format")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let format: PcmReader.Format | null = null
  let longLength: number | null = null
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = PcmReader.fourCc(view, at)
    const stated = view.getUint32(at + 4, true)
    const start = at + 8
    const length = Math.min(stated, bytes.length - start)
    if (id === "ds64" && length >= 16) longLength = Number(view.getBigUint64(start + 8, true))
    if (id === "fmt ") {
      format = readFormat(view, start, length)
      if (format === null) return Result.fail("unsupported_format")
    }
    if (id === "data") {
      if (format === null) return Result.fail("unsupported_format")
      const rest = bytes.length - start
      const real = stated === 0 ? rest : stated === 0xffff_ffff && longLength !== null ? longLength : stated
      return PcmReader.make(view, start, Math.min(real, rest), format)
    }
    at = PcmReader.afterChunk(view, start, stated)
  }
  return Result.fail(format === null ? "unsupported_format" : "empty")
}

/** Reads a whole file. */
export const read = (bytes: Uint8Array): Result.Result<PcmReader.Sound, Fault> =>
  Result.map(open(bytes), ({ length, read, sampleRate }) => ({ sampleRate, samples: read(0, length) }))

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
export const write = ({ sampleRate, samples }: PcmReader.Sound): Uint8Array => {
  const bytes = new Uint8Array(headerLength + samples.length * 2)
  bytes.set(header({ sampleRate, channels: 1 }, samples.length * 2))
  bytes.set(data(samples), headerLength)
  return bytes
}
