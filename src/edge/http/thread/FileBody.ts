import { hash } from "node:crypto"
import * as Slot from "../../../runtime/idempotency/Slot.ts"
import type { File } from "../request/CurrentFile.ts"
import * as BodyFault from "../request/BodyFault.ts"

/** A body that holds a file as base64 in one of its fields. Plain data. */
export interface Packed {
  /** The chunks as they arrived, each in memory of its own. */
  readonly chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>
  readonly field: string
  /** The key that its hash is made under; null when no hash is needed. */
  readonly idempotencyKey: string | null
}

export type Unpacked =
  | { readonly type: "refused"; readonly message: string; readonly param: string | null }
  | {
      readonly type: "unpacked"
      /** The body with an empty text in place of the file. Invalid JSON stays invalid. */
      readonly text: string
      /** Null when the field holds no file. */
      readonly file: File | null
      readonly bodyHash: string | null
    }

/** The most bytes that a body may have beside the file. */
const restBytes = 65_536

/** Does all work on such a body that takes time by its length. */
export const unpack = ({ chunks, field, idempotencyKey }: Packed): Unpacked => {
  const bytes = Buffer.concat(chunks)
  const fault = BodyFault.of(bytes)
  if (fault !== null) return { type: "refused", message: fault.message, param: fault.param ?? null }
  const [rest, encoded] = split(bytes, field)
  if (Buffer.byteLength(rest) > restBytes)
    return { type: "refused", message: `the body has more than 64 KiB beside ${field}`, param: null }
  return {
    type: "unpacked",
    text: rest,
    file: encoded === null ? null : fileOf(encoded),
    bodyHash: idempotencyKey === null ? null : Slot.bodyHash(idempotencyKey, bytes)
  }
}

/** Splits off the text of the field from the body. */
const split = (bytes: Uint8Array, field: string): readonly [rest: string, encoded: string | null] => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  if (text === "") return ["", null]
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return ["{", null]
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return [JSON.stringify(body), null]
  const encoded: unknown = Object.entries(body).find(([key]) => key === field)?.[1]
  return typeof encoded === "string"
    ? [JSON.stringify({ ...body, [field]: "" }), encoded]
    : [JSON.stringify(body), null]
}

const fileOf = (encoded: string): File | null => {
  const bytes = decodeBase64(encoded)
  return bytes === null ? null : { bytes, sha256: hash("sha256", bytes, "hex") }
}

/** Decodes RFC 4648 section 4 with its padding and no other characters; null when the text has any other form. */
const decodeBase64 = (encoded: string): Uint8Array<ArrayBuffer> | null => {
  const bytes = Buffer.from(encoded, "base64")
  // The decoder skips unknown characters, so a text that contains any differs from its re-encoding.
  return bytes.length > 0 && bytes.toString("base64") === encoded ? bytes : null
}
