import { Context } from "effect"

/** A file that came with a request. Plain data. */
export interface File {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In hex. */
  readonly sha256: string
}

/** The file that came with this request, as its endpoint's `FileField` says; null: none came, or it was no base64. */
export const CurrentFile = Context.Reference<File | null>("trunkline/http/CurrentFile", {
  defaultValue: () => null
})
