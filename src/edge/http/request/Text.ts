import { Schema, SchemaTransformation } from "effect"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as EgressTarget from "../../../ports/egress/EgressTarget.ts"

/** Text from a tenant. Its length counts Unicode code points, as JSON Schema does for the published limit. */
export const of = (minimum: number, maximum: number) =>
  minimum === 0
    ? Schema.String.check(Schema.isMaxCodePoints(maximum))
    : Schema.String.check(Schema.isMinCodePoints(minimum), Schema.isMaxCodePoints(maximum))

/** Absent, null or text. */
export const optional = (maximum: number, description: string, example: string) =>
  Wire.absentIs(null, Schema.NullOr(of(0, maximum)).annotate({ description, examples: [example] }))

/** ISO 3166-1 alpha-2, in either case on the wire and in upper case inside. */
export const country = Schema.String.check(
  Schema.isPattern(/^[A-Za-z]{2}$/u, { message: "must be a country code of two letters" })
)
  .annotate({ description: "ISO 3166-1 alpha-2, in either case.", examples: ["US"] })
  .pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: (code) => code.toUpperCase(), encode: (code) => code })
    )
  )

/** The egress port checks it further: scheme, host and address. */
export const httpsUrl = (description: string, example: string) =>
  of(0, EgressTarget.maxUrlLength).annotate({
    format: "uri",
    description: `${description} HTTPS only; no user name, no private address.`,
    examples: [example]
  })
