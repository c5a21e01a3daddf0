import { Context } from "effect"

/** The file that came with this request, as its endpoint's `FileField` says; null: none came, or it was no base64. */
export const CurrentFile = Context.Reference<Uint8Array | null>("trunkline/http/CurrentFile", {
  defaultValue: () => null
})
