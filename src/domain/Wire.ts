import { Effect, Schema } from "effect"

/**
 * The names of the wire. Inside the process a field is `fromNumber`, on the wire it is `from_number`; a schema names it
 * once, and this file does the rest.
 */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name

type Names<Fields> = { readonly [Name in keyof Fields]: Name extends string ? Snake<Name> : Name }

/** A struct whose fields are in camelCase here and in snake_case on the wire; `others` names those that differ more. */
export const struct = <
  const Fields extends Schema.Struct.Fields,
  const Others extends Partial<Record<keyof Fields, string>> = {}
>(
  fields: Fields,
  others?: Others
) =>
  Schema.Struct(fields).pipe(
    Schema.encodeKeys({
      ...Object.fromEntries(Object.keys(fields).map((name) => [name, snake(name)])),
      ...others
    } as Omit<Names<Fields>, keyof Others> & Others)
  )

/** A field of a request that may be left out: it is `value` then. The document does not show that as a default. */
export const absentIs = <S extends Schema.Top>(value: S["Encoded"], schema: S) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value), { encodingStrategy: "omit" }))
