import { Schema, SchemaTransformation } from "effect"
import { matching, nullable } from "../../../domain/schema/RequestField.ts"
import * as EgressTarget from "../../../ports/egress/EgressTarget.ts"

/** Text from a tenant. Its length counts Unicode code points, as JSON Schema does for the published limit. */
export const of = (minimum: number, maximum: number) =>
  minimum === 0
    ? Schema.String.check(Schema.isMaxCodePoints(maximum))
    : Schema.String.check(Schema.isMinCodePoints(minimum), Schema.isMaxCodePoints(maximum))

/** Absent, null or text. */
export const optional = (maximum: number, description: string, example: string) =>
  nullable(of(0, maximum), description, example)

/** ISO 3166-1 alpha-2, in either case on the wire and in upper case inside. */
export const country = matching(/^[A-Za-z]{2}$/u, "must be a country code of two letters")
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
