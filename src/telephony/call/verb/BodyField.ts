import { Effect, Schema } from "effect"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as EgressTarget from "../../../ports/egress/EgressTarget.ts"

/** Fields that the bodies of calls share. */

/** A field of the published document: its meaning, and a possible value. */
export const of = <S extends Schema.Top>(schema: S, description: string, example: S["Type"]) =>
  schema.annotate({ description, examples: [example] })

export const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A field that may be left out, with its default value. */
export const or = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

export const matching = (pattern: RegExp, message: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message }))

/** The egress port also checks scheme, host and address. */
export const httpsUrl = (description: string) =>
  Secret.url(Schema.String.check(Schema.isMaxCodePoints(EgressTarget.maxUrlLength))).annotate({
    format: "uri",
    description: `${description} HTTPS only; no user name, no private address.`,
    examples: ["https://example.com/welcome.wav"]
  })

export const channels = of(Schema.Literals(["single", "dual"]), "`dual`: each side on a channel of its own.", "single")
export const format = of(Schema.Literals(["mp3", "wav"]), "Of the recording.", "mp3")

export { nothing } from "../../../domain/schema/Wire.ts"
