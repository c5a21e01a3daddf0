import { Effect } from "effect"
import { createHash } from "node:crypto"

/**
 * The type of a document, by its bytes and not by its name: PDF, JPEG, PNG or TIFF, with the beginning and the end that
 * their specifications require. Other files, and those that only begin like one of these, have none.
 */
export type ContentType = "application/pdf" | "image/jpeg" | "image/png" | "image/tiff"

export const maxBytes = 10 * 1024 * 1024

const starts = (bytes: Uint8Array, ...head: ReadonlyArray<number>) => head.every((byte, index) => bytes[index] === byte)
const ends = (bytes: Uint8Array, ...tail: ReadonlyArray<number>) =>
  bytes.length >= tail.length && tail.every((byte, index) => bytes[bytes.length - tail.length + index] === byte)

const text = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1")

/** ISO 32000-1 section 7.5: a header with a version, and a trailer with the position of the cross-reference. */
const isPdf = (bytes: Uint8Array): boolean => {
  if (bytes.length < 64 || !/^%PDF-(1\.[0-7]|2\.0)[\r\n \t]/.test(text(bytes, 0, 10))) return false
  const tail = text(bytes, Math.max(0, bytes.length - 1_024), bytes.length)
  const place = /startxref\s+([0-9]{1,10})\s+%%EOF\s*$/.exec(tail)?.[1]
  return place !== undefined && Number(place) < bytes.length
}

/** ITU-T T.81 annex B: from SOI and another marker to EOI. */
const isJpeg = (bytes: Uint8Array): boolean =>
  bytes.length > 64 && starts(bytes, 0xff, 0xd8, 0xff) && (bytes[3] ?? 0) >= 0xc0 && ends(bytes, 0xff, 0xd9)

/** RFC 2083 section 3: the signature, IHDR first and IEND last. */
const isPng = (bytes: Uint8Array): boolean =>
  bytes.length > 57 &&
  starts(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52) &&
  ends(bytes, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82)

/** TIFF 6.0 section 2: byte order, 42, and a first directory within the file. */
const isTiff = (bytes: Uint8Array): boolean => {
  const little = starts(bytes, 0x49, 0x49, 42, 0)
  if (bytes.length < 26 || !(little || starts(bytes, 0x4d, 0x4d, 0, 42))) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const directory = view.getUint32(4, little)
  if (directory < 8 || directory + 2 > bytes.length) return false
  const entries = view.getUint16(directory, little)
  return entries > 0 && directory + 2 + entries * 12 + 4 <= bytes.length
}

/** Null when it is none of them. */
export const contentTypeOf = (bytes: Uint8Array): ContentType | null =>
  isPdf(bytes)
    ? "application/pdf"
    : isPng(bytes)
      ? "image/png"
      : isJpeg(bytes)
        ? "image/jpeg"
        : isTiff(bytes)
          ? "image/tiff"
          : null

/** The bytes that are hashed in one turn of the event loop. */
const sliceBytes = 256 * 1024

/** SHA-256 in hex. Other fibers run between slices. */
export const sha256 = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const hash = createHash("sha256")
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    hash.update(bytes.subarray(from, from + sliceBytes))
    yield* Effect.yieldNow
  }
  return hash.digest("hex")
})
