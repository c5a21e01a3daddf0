import { Schema, SchemaTransformation } from "effect"
import * as Timestamp from "../domain/Timestamp.ts"

/** Values in query strings. A parameter given twice is no value: 400. */

/** Any RFC 3339 instant, as epoch milliseconds. */
export const timestamp = Schema.String.check(
  Schema.makeFilter((text) =>
    Timestamp.parse(text) === null ? "must be an RFC 3339 timestamp, for example 2026-01-31T12:00:00.000Z" : undefined
  )
)
  .annotate({ format: "date-time" })
  .pipe(
    Schema.decodeTo(
      Schema.Number,
      SchemaTransformation.transform({
        decode: (text) => Timestamp.parse(text) ?? 0,
        encode: (epochMs) => Timestamp.format(epochMs)
      })
    )
  )

/** Beyond every page and every clamp; larger numbers are read as this one. */
const beyond = 1_000_000_000

/** A whole number of at least 1, in digits only, however many. */
export const positive = Schema.String.check(
  Schema.isPattern(/^0*[1-9][0-9]*$/u, { message: "must be a whole number, 1 or more" })
).pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({
      decode: (text) => Math.min(Number(text), beyond),
      encode: (number) => String(number)
    })
  )
)

export const boolean = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({ decode: (text) => text === "true", encode: (value) => (value ? "true" : "false") })
  )
)
