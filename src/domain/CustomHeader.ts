import { Schema } from "effect"

/**
 * A tenant's own header in SIP messages. Its name begins with `X-`, so that it cannot change a header of SIP itself.
 * The name is a token of RFC 3261 section 25.1; the value has no control characters. Both together have at most 1 KiB.
 */
export const maxHeaders = 20
const maxOctets = 1024

const name = /^X-[A-Za-z0-9\-.!%*_+`'~]+$/iu
const value = /^\P{Cc}*$/u

const utf8 = new TextEncoder()

export const isValid = (header: { readonly name: string; readonly value: string }): boolean =>
  name.test(header.name) &&
  value.test(header.value) &&
  header.name.length + header.value.length <= maxOctets &&
  utf8.encode(header.name + header.value).length <= maxOctets

export const CustomHeader = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(name)).annotate({
    description: "Begins with `X-`.",
    examples: ["X-Customer"]
  }),
  value: Schema.String.check(Schema.isPattern(value)).annotate({
    description: "Without control characters.",
    examples: ["4711"]
  })
}).check(Schema.makeFilter((header) => isValid(header) || "name and value together have at most 1,024 bytes"))
export type CustomHeader = typeof CustomHeader.Type

/** The field of an API request. */
export const CustomHeaders = Schema.Array(CustomHeader)
  .check(Schema.isMaxLength(maxHeaders))
  .annotate({ description: "Headers of your own for the SIP message, each at most 1 KiB." })
