import { Schema } from "effect"

/** Text that a tenant gives: within its length, and without NUL, which no database column takes. */
export const of = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.isMinLength(minimum),
    Schema.isMaxLength(maximum),
    Schema.makeFilter((text) => (text.includes("\u0000") ? "must not contain NUL" : undefined))
  )

/** Absent, null or text. */
export const optional = (maximum: number) => Schema.optionalKey(Schema.NullOr(of(0, maximum)))

/** ISO 3166-1 alpha-2, in either case. */
export const country = Schema.String.check(
  Schema.isPattern(/^[A-Za-z]{2}$/, { message: "must be a country code of two letters" })
)

/** Checked further by the egress port: scheme, host and address (decision C59). */
export const httpsUrl = Schema.String.check(Schema.isMaxLength(2048)).annotate({
  format: "uri",
  description: "HTTPS only."
})
