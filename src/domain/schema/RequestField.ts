import { Effect, Schema } from "effect"
import * as Wire from "./Wire.ts"

/** The bodies and queries of requests, and their fields. */

/** A body, with its name in the published document. `names`: the wire names that are not the field's in snake case. */
export const body = <
  const Fields extends Schema.Struct.Fields,
  const Names extends Partial<Record<keyof Fields, string>> = {}
>(
  identifier: string,
  fields: Fields,
  names?: Names
): ReturnType<typeof Wire.struct<Fields, Names>>["Rebuild"] =>
  Wire.struct(fields, names).pipe(Schema.annotateEncoded({ identifier }))

/** A field of the published document: its meaning, and a possible value. */
export const of = <S extends Schema.Top>(schema: S, description: string, example: S["Type"]) =>
  schema.annotate({ description, examples: [example] })

/** A field that may be left out, with its default value. */
export const or = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** A field that may be left out. */
export const optional = <S extends Schema.Top>(schema: S, description: string, example: S["Type"]) =>
  Schema.optionalKey(of(schema, description, example))

/** A field that may be left out or null, which means the same. */
export const nullable = <S extends Schema.Top>(schema: S, description: string, example: S["Type"] | null) =>
  Wire.absentIs(null, of(Schema.NullOr(schema), description, example))

/** A filter of a list: only rows with this value. */
export const only = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

export const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const matching = (pattern: RegExp, message: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message }))
