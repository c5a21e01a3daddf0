import { Schema, SchemaTransformation } from "effect"
import * as Timestamp from "../../../domain/time/Timestamp.ts"

/** Values in query strings. A parameter that is given twice is a 400. */

/** A text that `refuse` gives no reason against, read as a value. The published document shows `jsonSchema`. */
const text = <To extends Schema.Codec<unknown>>(
  to: To,
  options: {
    readonly refuse: (text: string) => string | undefined
    readonly jsonSchema: Readonly<Record<string, unknown>>
    readonly documented: { readonly description: string; readonly examples?: readonly [string] }
    readonly decode: (text: string) => To["Encoded"]
    readonly encode: (value: To["Encoded"]) => string
  }
) =>
  Schema.String.check(Schema.makeFilter(options.refuse, { toJsonSchema: () => options.jsonSchema }))
    .annotate(options.documented)
    .pipe(Schema.decodeTo(to, SchemaTransformation.transform({ decode: options.decode, encode: options.encode })))

/** Any RFC 3339 instant, as epoch milliseconds. */
export const timestamp = (description: string) =>
  text(Schema.Number, {
    refuse: (text) =>
      Timestamp.parse(text) === null
        ? "must be an RFC 3339 timestamp, for example 2026-01-31T12:00:00.000Z"
        : undefined,
    jsonSchema: { format: "date-time" },
    documented: {
      description: `${description} RFC 3339, with \`Z\` or an offset.`,
      examples: ["2026-01-31T12:00:00.000Z"]
    },
    decode: (text) => Timestamp.parse(text) ?? 0,
    encode: Timestamp.format
  })

/** `true` or `false`. The published document shows a boolean. */
export const flag = (description: string) =>
  text(Schema.Boolean, {
    refuse: (text) => (text === "true" || text === "false" ? undefined : "must be true or false"),
    jsonSchema: { "x-wire": { type: "boolean" } },
    documented: { description },
    decode: (text) => text === "true",
    encode: String
  })

/** This number exceeds every page and every clamp; larger ones are read as it. */
const beyond = 1_000_000_000

/** A whole number of at least 1, in digits only, however many. The published document shows a number. */
export const positive = ({
  description,
  maximum,
  ...rest
}: {
  readonly description: string
  readonly default: number
  readonly maximum?: number
}) =>
  text(Schema.Number, {
    refuse: (text) => {
      if (!/^0*[1-9][0-9]*$/.test(text)) return "must be a whole number, 1 or more"
      return maximum !== undefined && Number(text) > maximum ? `must be ${maximum} or less` : undefined
    },
    jsonSchema: {
      "x-wire": { type: "integer", minimum: 1, ...(maximum === undefined ? {} : { maximum }), default: rest.default }
    },
    documented: { description },
    decode: (text) => Math.min(Number(text), beyond),
    encode: String
  })
