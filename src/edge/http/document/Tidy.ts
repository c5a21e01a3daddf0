import { isJson, type Json } from "./Json.ts"

/**
 * Simplifies the generated schemas for readers.
 *
 * A check that means more than its keywords can express leaves a mark: `x-wire`, the true schema of a text in a query,
 * replaces the schema. Keywords that `allOf` only adds are merged into the schema, and so is a single alternative.
 */
export const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const merged = wired(flat(only(value)))
  // Readers of the document ask for the items of every array, also of one that may hold anything.
  const isOpen = merged["type"] === "array" && merged["items"] === undefined && merged["prefixItems"] === undefined
  const whole = isOpen ? { ...merged, items: {} } : merged
  return Object.fromEntries(Object.entries(whole).map(([key, part]) => [key, tidy(part)]))
}

const only = (schema: Json): Json => {
  const { anyOf, ...rest } = schema
  const [alternative, ...others]: ReadonlyArray<unknown> = Array.isArray(anyOf) ? anyOf : []
  return isJson(alternative) && others.length === 0 ? { ...alternative, ...rest } : schema
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
