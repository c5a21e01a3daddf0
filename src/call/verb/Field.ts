import { Effect, Schema } from "effect"

/** Fields that the bodies of calls share. */

export const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** With a default. */
export const or = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

export const matching = (pattern: RegExp, message: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message }))

/** The egress port checks it further: scheme, host and address. */
export const httpsUrl = Schema.String.check(Schema.isMaxLength(2048)).annotate({
  format: "uri",
  description: "HTTPS only."
})
export const wssUrl = Schema.String.annotate({ format: "uri", description: "WSS only." })

export const channels = Schema.Literals(["single", "dual"])
export const format = Schema.Literals(["mp3", "wav"])
export const track = Schema.Literals(["inbound_track", "outbound_track", "both_tracks"])

/** No body, or `{}`. */
export const nothing = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((body) => {
    const [field] = Object.keys(body)
    return field === undefined ? undefined : `unexpected field ${field}: this action takes no body`
  })
)
