import { isJson, type Json } from "./Json.ts"

/**
 * Schemas as a reader wants them, from what is generated.
 *
 * A check that says more than its keywords can leaves a mark: `x-wire`, what a text of a query is in truth, takes the
 * schema's place; `x-built-so-far`, the values that work, becomes a sentence. What `allOf` only adds is put beside the
 * rest.
 */
export const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const whole = spoken(wired(flat(value)))
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

const spoken = (schema: Json): Json => {
  const { "x-built-so-far": built, ...rest } = schema
  if (!Array.isArray(built)) return schema
  const sentence =
    built.length === 0
      ? "Not built yet: answers 422 `unprocessable`."
      : `Built so far: ${built.map((value) => `\`${String(value)}\``).join(", ")}; others answer 422 \`unprocessable\`.`
  const { description } = rest
  return {
    ...rest,
    description: typeof description === "string" ? `${description} ${sentence}` : sentence,
    ...(built.length === 0 ? { "x-not-built-yet": true } : {})
  }
}
