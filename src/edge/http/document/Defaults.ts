import { Result, Schema } from "effect"
import type { Json } from "./Json.ts"

/**
 * The values that a schema supplies for fields missing in `given`, in wire form. They come from decoding, so that the
 * published defaults are the effective ones.
 */
export const of = (schema: Schema.Codec<unknown, unknown>, given: Json): Json => {
  const decoded = Schema.decodeUnknownResult(schema)(given)
  // The tests find an invalid example; it must not keep the service from starting.
  if (Result.isFailure(decoded)) return {}
  const whole = Schema.encodeUnknownSync(schema)(decoded.success) as Json
  return Object.fromEntries(Object.entries(whole).filter(([name, value]) => !(name in given) && value !== undefined))
}

/** Adds the defaults to the fields that have them. */
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
