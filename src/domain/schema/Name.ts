import { Schema } from "effect"
import * as Printable from "./Printable.ts"

/**
 * A name shows something: a text of white space or of characters without width would be an empty place wherever people
 * read it. An empty text is another fault, which the length refuses.
 */
export const isVisible = Schema.makeFilter<string>(
  (text) => (text === "" || Printable.isVisible(text) ? undefined : "must have a character that can be seen"),
  { toJsonSchema: () => ({}) }
)

/** A name, or a line of an address, of up to `maximum` Unicode code points. */
export const of = (maximum: number) =>
  Schema.String.check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(maximum), isVisible)
