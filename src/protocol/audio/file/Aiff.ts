import { Result } from "effect"
import * as PcmReader from "./PcmReader.ts"

/** AIFF and AIFF-C files ("Audio Interchange File Format", Apple, 1989 and 1991): chunks, big-endian. */

/** Whether bytes begin like an AIFF file. */
export const isAiff = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return PcmReader.fourCc(view, 0) === "FORM" && ["AIFF", "AIFC"].includes(PcmReader.fourCc(view, 8))
}

/** The codings of AIFF-C that are read, by the type of their compression. AIFF itself has no such field. */
const codingOf = (compression: string, bits: number): PcmReader.Coding | null => {
  // A sample of 12 bits, for example, is in the upper bits of two octets.
  const width = Math.ceil(bits / 8) * 8
  switch (compression) {
    case "NONE":
    case "twos":
      return { type: "signed", bits: width, isLittleEndian: false }
    case "sowt":
      return { type: "signed", bits: width, isLittleEndian: true }
    case "fl32":
    case "FL32":
      return { type: "float", bits: 32, isLittleEndian: false }
    case "fl64":
    case "FL64":
      return { type: "float", bits: 64, isLittleEndian: false }
    case "ulaw":
    case "ULAW":
      return { type: "mu-law", bits: 8, isLittleEndian: false }
    case "alaw":
    case "ALAW":
      return { type: "a-law", bits: 8, isLittleEndian: false }
    default:
      return null
  }
}

/** An IEEE 754 number of 80 bits; only positive ones make sense as a rate. */
const extended = (view: DataView, at: number): number =>
  view.getUint32(at + 2) * 2 ** (view.getUint16(at) - 16_383 - 31) +
  view.getUint32(at + 6) * 2 ** (view.getUint16(at) - 16_383 - 63)

const readCommon = (view: DataView, at: number, length: number, isCompressed: boolean): PcmReader.Format | null => {
  if (length < (isCompressed ? 22 : 18)) return null
  const coding = codingOf(isCompressed ? PcmReader.fourCc(view, at + 18) : "NONE", view.getUint16(at + 6))
  if (coding === null) return null
  return { coding, channels: view.getUint16(at), sampleRate: Math.round(extended(view, at + 8)) }
}

/** Opens an AIFF file as one channel, the mean of all. Its sound may come before its description. */
export const open = (bytes: Uint8Array): Result.Result<PcmReader.PcmReader, "unsupported_format" | "empty"> => {
  if (!isAiff(bytes)) return Result.fail("unsupported_format")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isCompressed = PcmReader.fourCc(view, 8) === "AIFC"
  let format: PcmReader.Format | null = null
  let sound: { readonly start: number; readonly octets: number } | null = null
  for (let at = 12; at + 8 <= bytes.length && (format === null || sound === null);) {
    const id = PcmReader.fourCc(view, at)
    const stated = view.getUint32(at + 4)
    const start = at + 8
    const length = Math.min(stated, bytes.length - start)
    if (id === "COMM") {
      format = readCommon(view, start, length, isCompressed)
      if (format === null) return Result.fail("unsupported_format")
    }
    if (id === "SSND" && length >= 8) {
      const offset = 8 + view.getUint32(start)
      sound = { start: start + offset, octets: length - offset }
    }
    at = PcmReader.afterChunk(view, start, stated)
  }
  if (format === null) return Result.fail("unsupported_format")
  return sound === null ? Result.fail("empty") : PcmReader.make(view, sound.start, sound.octets, format)
}
