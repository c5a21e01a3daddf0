import { isJson, type Json } from "./Json.ts"

/** Schemas by name. */
export type Components = Readonly<Record<string, Json>>

/** The schema that `$ref` names, or the schema itself. */
const resolved = (schema: Json, components: Components): Json => {
  const { $ref } = schema
  const target = typeof $ref === "string" ? components[$ref.split("/").at(-1) ?? ""] : undefined
  return target === undefined ? schema : resolved(target, components)
}

/** An example for a JSON schema: its own, or one of its parts' examples. `fields` selects its properties. */
export const of = (schema: Json, components: Components, fields: "all" | "required" = "all"): unknown => {
  const whole = resolved(schema, components)
  const { allOf, anyOf, const: only, default: preset, enum: values, examples, items, properties, type } = whole
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (only !== undefined) return only
  if (preset !== undefined) return preset
  if (Array.isArray(values) && values.length > 0) return values[0]
  if (isJson(properties)) {
    const required = new Set(Array.isArray(whole["required"]) ? whole["required"] : [])
    const shown = Object.entries(properties).filter(
      ([name, field]) => isJson(field) && (fields === "all" || required.has(name))
    )
    return Object.fromEntries(shown.map(([name, field]) => [name, of(field as Json, components, fields)]))
  }
  if (isJson(items)) return [of(items, components, fields)]
  const [first] = Array.isArray(anyOf) ? anyOf : Array.isArray(allOf) ? allOf : []
  if (isJson(first)) return of(first, components, fields)
  return plain(type, whole)
}

const plain = (type: unknown, { minimum }: Json): unknown => {
  switch (type) {
    case "boolean":
      return false
    case "integer":
    case "number":
      return minimum ?? 0
    case "string":
      return "text"
    case "object":
      return {}
    default:
      return null
  }
}
