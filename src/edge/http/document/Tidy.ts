import { isJson, type Json } from "./Json.ts"

/**
 * Schemas as a reader wants them, from what is generated.
 *
 * A check that says more than its keywords can leaves a mark: `x-wire`, what a text of a query is in truth, takes the
 * schema's place. What `allOf` only adds is put beside the rest.
 */
export const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const whole = wired(flat(value))
  return Object.fromEntries(Object.entries(whole).map(([key, part]) => [key, tidy(part)]))
}

const flat = (schema: Json): Json => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const added = allOf.every(isJson) ? allOf.flatMap((part) => Object.entries(part)) : []
  const names = [...Object.keys(rest), ...added.map(([key]) => key)]
  const isPlain = new Set(names).size === names.length && !names.includes("$ref")
  return isPlain && added.length > 0 ? { ...rest, ...Object.fromEntries(added) } : schema
}

const wired = (schema: Json): Json => {
  const { description, examples, "x-wire": wire } = schema
  if (!isJson(wire)) return schema
  return {
    ...wire,
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples })
  }
}
