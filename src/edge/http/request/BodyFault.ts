import { isUtf8 } from "node:buffer"
import { ApiError } from "../../../domain/ApiError.ts"
import * as JsonShape from "../answer/JsonShape.ts"
import * as SchemaFault from "./SchemaFault.ts"

const noObject = ApiError.of("invalid_request", "the body must be a JSON object")
const notUtf8 = ApiError.of("invalid_request", "the body is not UTF-8 text")

/**
 * Refuses the bytes of a body before they are decoded; null when they are acceptable. They must be UTF-8 (RFC 8259
 * section 8.1), within `JsonShape.bounds` and not `null`, and hold no text that no database takes: NUL, or half a
 * surrogate pair, which JSON escapes can spell.
 */
export const of = (bytes: Uint8Array): ApiError | null => {
  if (!isUtf8(bytes)) return notUtf8
  const shape = JsonShape.fault(bytes)
  if (shape !== null) return ApiError.of("invalid_request", `the body ${shape}`)
  return isNull(bytes) ? noObject : unstorableText(bytes)
}

/** The decoders take `null` for an absent body, so an explicit `null` is refused here. */
const isNull = (bytes: Uint8Array): boolean => {
  const [first] = bytes
  // A `null` begins with "n" or with white space, RFC 8259 section 2.
  if (first !== 0x6e && first !== 0x20 && first !== 0x09 && first !== 0x0a && first !== 0x0d) return false
  return /^[ \t\n\r]*null[ \t\n\r]*$/.test(Buffer.from(bytes).toString("latin1"))
}

type Path = ReadonlyArray<string | number>

/** Only an escape can spell such text, so other bodies are not parsed. The decoder refuses invalid JSON. */
const unstorableText = (bytes: Uint8Array): ApiError | null => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.includes("\\u")) return null
  const left: Array<readonly [path: Path, value: unknown]> = []
  try {
    left.push([[], JSON.parse(buffer.toString())])
  } catch {
    return null
  }
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, value] = next
    if (typeof value === "string" && !isStorable(value)) return unstorable(path)
    if (typeof value !== "object" || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      // The field's name is unstorable too, so the error names its parent.
      if (!isStorable(key)) return unstorable(path)
      left.push([[...path, Array.isArray(value) ? Number(key) : key], inner])
    }
  }
  return null
}

const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

const unstorable = (path: Path): ApiError => {
  const param = SchemaFault.nameOf(path)
  return ApiError.of(
    "invalid_request",
    `${param === "" ? "the body" : param}: has text with NUL or half a surrogate pair`,
    param === "" ? undefined : param
  )
}
