import { Effect, Schema } from "effect"
import { E164 } from "../../domain/E164.ts"
import * as PathId from "../PathId.ts"
import { disagreement } from "../../domain/CodedCheck.ts"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"

/** Request bodies of the call endpoints, spec §4.4 and decisions 2.1.4, 2.10. */

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const or = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))
const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Checked further by the egress port: scheme, host and address (decision C59). */
const httpsUrl = Schema.String.check(Schema.isMaxLength(2048)).annotate({ format: "uri", description: "HTTPS only." })
const wssUrl = Schema.String.annotate({ format: "uri", description: "WSS only." })
const channels = Schema.Literals(["single", "dual"])
const format = Schema.Literals(["mp3", "wav"])
const track = Schema.Literals(["inbound_track", "outbound_track", "both_tracks"])

export const PlaceCall = Schema.Struct({
  from: E164,
  to: E164,
  route_id: optional(PathId.prefixed("route")),
  record: or(NotBuiltYet.value(Schema.Literals(["off", "on_answer", "on_ringing", "on_demand"]), ["off"]), "off"),
  record_channels: or(channels, "single"),
  record_format: or(format, "mp3"),
  customer_reference: optional(Schema.String.check(Schema.isMaxLength(128))),
  answering_machine_detection: or(NotBuiltYet.value(Schema.Literals(["off", "premium"]), ["off"]), "off"),
  audio_url: NotBuiltYet.field(httpsUrl),
  timeout_secs: or(int(1, 600), 60),
  time_limit_secs: optional(int(1, 86_400)),
  caller_id_forwarding: or(Schema.Boolean, false)
}).annotate({ identifier: "PlaceCall" })

export const Answer = Schema.Struct({
  record: Schema.optionalKey(NotBuiltYet.value(Schema.Literals(["off", "on_answer", "record-from-answer"]), ["off"])),
  record_channels: or(channels, "single"),
  record_format: or(format, "mp3"),
  stream_url: NotBuiltYet.field(wssUrl),
  stream_track: NotBuiltYet.field(track)
}).annotate({ identifier: "AnswerCall" })

export const Reject = Schema.Struct({ cause: Schema.Literals(["user_busy", "rejected"]) }).annotate({
  identifier: "RejectCall"
})

export const Play = Schema.Struct({
  url: httpsUrl,
  loop: or(int(1, 100), 1),
  target_legs: or(NotBuiltYet.value(Schema.Literals(["self", "opposite", "both"]), ["self"]), "self")
}).annotate({ identifier: "Play" })

export const StopPlayback = Schema.Struct({ stop: or(Schema.Literals(["current", "all"]), "all") }).annotate({
  identifier: "StopPlayback"
})

export const SendDtmf = Schema.Struct({
  digits: Schema.String.check(
    Schema.isPattern(/^[0-9A-D*#]{1,64}$/, { message: "must be 1 to 64 of 0-9, A-D, * and #" })
  ),
  duration_millis: or(int(100, 500), 250)
}).annotate({ identifier: "SendDtmf" })

export const Gather = Schema.Struct({
  minimum_digits: or(int(1, 128), 1),
  maximum_digits: or(int(1, 128), 128),
  terminating_digit: or(
    Schema.String.check(Schema.isPattern(/^[0-9*#]?$/, { message: "must be one of 0-9, * and #, or empty for none" })),
    "#"
  ),
  valid_digits: or(
    Schema.String.check(Schema.isPattern(/^[0-9*#]{1,12}$/, { message: "must be 1 to 12 of 0-9, * and #" })),
    "0123456789#*"
  ),
  timeout_millis: or(int(1_000, 600_000), 60_000),
  inter_digit_timeout_millis: or(int(100, 60_000), 5_000),
  initial_timeout_millis: or(int(100, 600_000), 5_000)
})
  .check(
    disagreement((gather) =>
      gather.maximum_digits < gather.minimum_digits ? "maximum_digits is below minimum_digits" : undefined
    )
  )
  .annotate({ identifier: "Gather" })

/** No body, or `{}` (decision C6). */
export const Nothing = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((body) => {
    const [field] = Object.keys(body)
    return field === undefined ? undefined : `unexpected field ${field}: this action takes no body`
  })
)
