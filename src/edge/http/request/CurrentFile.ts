import { Context } from "effect"

/** A file that came with a request. Plain data. */
export interface File {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The hash in hex. */
  readonly sha256: string
}

/** The file in this request's `FileField`; null when there is none, or when it is not base64. */
export const CurrentFile = Context.Reference<File | null>("trunkline/http/CurrentFile", {
  defaultValue: () => null
})
