import type { Shape } from "../Spool.ts"

/** A WAVE file of this shape that is to be encoded as MP3. It is plain data. */
export interface Encoding {
  readonly from: string
  readonly to: string
  readonly shape: Shape
}

/**
 * The answer of the thread: the file is complete, or the failure. `code`: from the file system; null: the encoder
 * failed.
 */
export type Encoded =
  | { readonly type: "encoded"; readonly sizeBytes: number }
  | { readonly type: "failed"; readonly code: string | null; readonly detail: string }
