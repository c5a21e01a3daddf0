import { isUtf8 } from "node:buffer"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { Rejected } from "../domain/Rejected.ts"

/** Largest request body; a longer one is refused with 400 (decision C14). */
export const limitBytes = 1024 * 1024

/** Makes the server stop reading at the limit. */
export const layerLimit = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limitBytes))

const tooLarge = Rejected.of("invalid_request", "the body is longer than 1 MiB")
const unreadable = Rejected.of("invalid_request", "the body could not be read")
const notUtf8 = Rejected.of("invalid_request", "the body is not UTF-8 text")
const notText = Rejected.of("invalid_request", "the body has text with NUL or half a surrogate pair")

/**
 * The raw bytes, read once: the request keeps them, and the decoder that comes after reads them from there.
 *
 * Fails with `invalid_request` when it is longer than the limit, was cut off, is not UTF-8 (RFC 8259 section 8.1), or
 * has text that no database takes: NUL, or half a surrogate pair, which JSON's escapes can spell.
 */
export const read = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array, Rejected> => {
  if (Number(request.headers["content-length"]) > limitBytes) return Effect.fail(tooLarge)
  return Effect.matchEffect(request.arrayBuffer, {
    onFailure: (error) =>
      Effect.fail("reason" in error.reason && error.reason.reason === "BodyTooLarge" ? tooLarge : unreadable),
    onSuccess: (buffer) => {
      const bytes = new Uint8Array(buffer)
      if (!isUtf8(bytes)) return Effect.fail(notUtf8)
      return spellsNoText(bytes) ? Effect.fail(notText) : Effect.succeed(bytes)
    }
  })
}

/** Only an escape can spell such text; what is no JSON is the decoder's to refuse. */
const spellsNoText = (bytes: Uint8Array): boolean => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.includes("\\u")) return false
  const left: Array<unknown> = []
  try {
    left.push(JSON.parse(buffer.toString()))
  } catch {
    return false
  }
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === "string" && (value.includes("\u0000") || !value.isWellFormed())) return true
    if (typeof value === "object" && value !== null) for (const entry of Object.entries(value)) left.push(...entry)
  }
  return false
}
