import { Schema } from "effect"
import * as Field from "../../call/verb/Field.ts"
import { E164 } from "../../domain/E164.ts"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import * as PathId from "../PathId.ts"

const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const { channels, format, httpsUrl, int, or } = Field

/** The request body of a new call; those of its verbs stand with the verbs. */
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
