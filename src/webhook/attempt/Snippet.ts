import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib"

/** How many bytes of an answer's body are read, and how many of the decoded body are kept. */
export const bytes = 1024

/** A body of a kibibyte may decode to megabytes. One that decodes to more than this is only named. */
const maxOutputLength = 64 * 1024

type Decode = (body: Uint8Array) => Uint8Array

const flushed = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength }

/** The content codings of RFC 9110 section 8.4.1 and RFC 8878. The end of a body may be missing. */
const codings: Readonly<Record<string, Decode>> = {
  gzip: (body) => gunzipSync(body, flushed),
  "x-gzip": (body) => gunzipSync(body, flushed),
  deflate: (body) => inflateSync(body, flushed),
  br: (body) => brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
  zstd: (body) => zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush, maxOutputLength })
}

/**
 * The start of an answer for the delivery log. A body with a content coding is decoded, although the request asked for
 * none; one that cannot be decoded is named with its size.
 */
export const of = (body: Uint8Array, contentEncoding: string | undefined): string => {
  const coding = (contentEncoding ?? "").trim().toLowerCase()
  if (coding === "" || coding === "identity" || body.length === 0) return text(body)
  const named = `(${body.length} bytes of a body with Content-Encoding: ${coding.slice(0, 64)})`
  try {
    const decoded = Object.hasOwn(codings, coding) ? codings[coding]?.(body) : undefined
    return decoded === undefined || decoded.length === 0 ? named : text(decoded.subarray(0, bytes))
  } catch {
    return named
  }
}

/** A character that the limit cut in two is left out; bytes that are not UTF-8 become U+FFFD. */
const text = (body: Uint8Array): string => new TextDecoder().decode(body, { stream: true })
