import { Result, Schema } from "effect"
import type { Json } from "./Json.ts"

/**
 * What a schema puts in place of the fields that `given` leaves out, in wire form: learned from decoding, so that the
 * published defaults are those that hold.
 */
export const of = (schema: Schema.Codec<unknown, unknown>, given: Json): Json => {
  const decoded = Schema.decodeUnknownResult(schema)(given)
  // An example that is none is the tests' to find; the service starts.
  if (Result.isFailure(decoded)) return {}
  const whole = Schema.encodeUnknownSync(schema)(decoded.success) as Json
  return Object.fromEntries(Object.entries(whole).filter(([name, value]) => !(name in given) && value !== undefined))
}

/** With the defaults beside the fields that have them. */
export const into = (schema: Json, defaults: Json): Json => {
  const properties = schema["properties"] as Readonly<Record<string, Json>> | undefined
  if (properties === undefined) return schema
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        name in defaults ? { ...field, default: defaults[name] } : field
      ])
    )
  }
}
