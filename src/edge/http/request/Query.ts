import { Schema, SchemaTransformation } from "effect"
import * as Timestamp from "../../../domain/time/Timestamp.ts"

/** Values in query strings. A parameter that is given twice is a 400. */

/** Any RFC 3339 instant, as epoch milliseconds. */
export const timestamp = (description: string) =>
  Schema.String.check(
    Schema.makeFilter(
      (text) =>
        Timestamp.parse(text) === null
          ? "must be an RFC 3339 timestamp, for example 2026-01-31T12:00:00.000Z"
          : undefined,
      { toJsonSchema: () => ({ format: "date-time" }) }
    )
  )
    .annotate({
      description: `${description} RFC 3339, with \`Z\` or an offset.`,
      examples: ["2026-01-31T12:00:00.000Z"]
    })
    .pipe(
      Schema.decodeTo(
        Schema.Number,
        SchemaTransformation.transform({
          decode: (text) => Timestamp.parse(text) ?? 0,
          encode: (epochMs) => Timestamp.format(epochMs)
        })
      )
    )

/** `true` or `false`. The published document shows a boolean. */
export const flag = (description: string) =>
  Schema.String.check(
    Schema.makeFilter((text) => (text === "true" || text === "false" ? undefined : "must be true or false"), {
      toJsonSchema: () => ({ "x-wire": { type: "boolean" } })
    })
  )
    .annotate({ description })
    .pipe(
      Schema.decodeTo(
        Schema.Boolean,
        SchemaTransformation.transform({ decode: (text) => text === "true", encode: (flag) => String(flag) })
      )
    )

/** This number exceeds every page and every clamp; larger ones are read as it. */
const beyond = 1_000_000_000

/** A whole number of at least 1, in digits only, however many. The published document shows a number. */
export const positive = (options: {
  readonly description: string
  readonly default: number
  readonly maximum?: number
}) => {
  const { maximum = Number.POSITIVE_INFINITY } = options
  const wire = {
    type: "integer",
    minimum: 1,
    ...(options.maximum === undefined ? {} : { maximum: options.maximum }),
    default: options.default
  }
  return Schema.String.check(
    Schema.makeFilter(
      (text) =>
        !/^0*[1-9][0-9]*$/.test(text)
          ? "must be a whole number, 1 or more"
          : Number(text) > maximum
            ? `must be ${maximum} or less`
            : undefined,
      { toJsonSchema: () => ({ "x-wire": wire }) }
    )
  )
    .annotate({ description: options.description })
    .pipe(
      Schema.decodeTo(
        Schema.Number,
        SchemaTransformation.transform({
          decode: (text) => Math.min(Number(text), beyond),
          encode: (number) => String(number)
        })
      )
    )
}
