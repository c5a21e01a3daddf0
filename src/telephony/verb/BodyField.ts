import { Effect, Schema } from "effect"
import * as Id from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as EgressTarget from "../../ports/egress/EgressTarget.ts"

/** The bodies of verbs, and fields that several of them have. */

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

export const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A field that may be left out, with its default value. */
export const or = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

export const matching = (pattern: RegExp, message: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message }))

/** The opaque part of ids in examples. */
export const opaque = "0123456789abcdef".repeat(2)

export const id = <P extends Id.Prefix>(prefix: P, description: string) =>
  of(Id.spelled(prefix), description, Id.ofOpaque(prefix, opaque))

/** The egress port also checks scheme, host and address. */
export const httpsUrl = (description: string) =>
  Secret.url(Schema.String.check(Schema.isMaxCodePoints(EgressTarget.maxUrlLength))).annotate({
    format: "uri",
    description: `${description} HTTPS only; no user name, no private address.`,
    examples: ["https://example.com/welcome.wav"]
  })

export const channels = of(Schema.Literals(["single", "dual"]), "`dual`: each side on a channel of its own.", "single")
export const format = of(Schema.Literals(["mp3", "wav"]), "Of the recording.", "mp3")

export { nothing } from "../../domain/schema/Wire.ts"
