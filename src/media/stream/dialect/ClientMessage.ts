/**
 * The messages of a stream's server, guide/streams.md#what-the-server-sends. Both dialects write them alike.
 *
 * Their ids are ignored: a stream has a connection of its own, and servers omit them or get them wrong.
 */
export type ClientMessage =
  /** `payload` is base64. */
  | { readonly type: "media"; readonly payload: string }
  | { readonly type: "mark"; readonly name: string }
  | { readonly type: "clear" }
  /** A message without a meaning here. */
  | { readonly type: "other" }
  /** Not a JSON object with an event. */
  | { readonly type: "malformed" }
  /** A media message without sound. */
  | { readonly type: "invalid_media" }

/** The longest name of a mark, because the names of all waiting marks are kept. */
const longestName = 1000

const malformed: ClientMessage = { type: "malformed" }

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Never throws. */
export const read = (text: string): ClientMessage => {
  const message = parsed(text)
  if (!isFields(message) || typeof message["event"] !== "string") return malformed
  switch (message["event"]) {
    case "media": {
      const payload = isFields(message["media"]) ? message["media"]["payload"] : undefined
      return typeof payload === "string" ? { type: "media", payload } : { type: "invalid_media" }
    }
    case "mark": {
      const name = isFields(message["mark"]) ? message["mark"]["name"] : undefined
      return typeof name === "string" && name.length <= longestName ? { type: "mark", name } : malformed
    }
    case "clear":
      return { type: "clear" }
    default:
      return { type: "other" }
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Decodes a payload; null: it is not base64. Encoders of mail (RFC 2045) break lines, and some add white space. */
export const bytesOf = (payload: string): Uint8Array | null =>
  decoded(payload) ?? (/\s/u.test(payload) ? decoded(payload.replace(/\s+/gu, "")) : null)

const decoded = (payload: string): Uint8Array | null => {
  const bytes = Buffer.from(payload, "base64")
  const padding = payload.endsWith("==") ? 2 : payload.endsWith("=") ? 1 : 0
  // Characters that are not base64 were skipped by the decoder.
  return bytes.length === Math.floor(((payload.length - padding) * 3) / 4) ? bytes : null
}
