import { Schema } from "effect"

/** A phone number, guide/requests.md#formats: `+` then 6 to 15 digits. */
const pattern = /^\+[0-9]{6,15}$/u

export const E164 = Schema.String.check(
  Schema.isPattern(pattern, { message: "must be E.164: + followed by 6 to 15 digits" })
).annotate({ description: "E.164: `+` and 6 to 15 digits.", examples: ["+12025550100"] })

export const isE164 = (value: string): boolean => pattern.test(value)
