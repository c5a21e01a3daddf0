import type { Shape } from "../Spool.ts"

/** A WAVE file of this shape that is to become an MP3 file. Plain data. */
export interface Encoding {
  readonly from: string
  readonly to: string
  readonly shape: Shape
}

/** From the thread: the file is there, or why it is not. `code`: of the file system; null: the encoder failed. */
export type Encoded =
  | { readonly type: "encoded"; readonly sizeBytes: number }
  | { readonly type: "failed"; readonly code: string | null; readonly detail: string }
