import { Schema } from "effect"
import type { DialOptions, Plan } from "../../../telephony/call/Call.ts"
import * as BodyField from "../../../telephony/verb/BodyField.ts"
import { E164 } from "../../../domain/E164.ts"
import * as CustomHeader from "../../../domain/CustomHeader.ts"
import * as PathId from "../request/PathId.ts"
import * as Text from "../request/Text.ts"
import { body, int, nullable, of, or } from "../../../domain/schema/RequestField.ts"

const { channels, format, httpsUrl } = BodyField

/** The fields of a body by which a call is dialled. */
export const parties = {
  from: of(E164, "The calling number, E.164: an active number of the workspace.", "+12025550150"),
  to: of(E164, "The called number, E.164.", "+12025550100"),
  routeId: nullable(PathId.prefixed("route"), "The connection that it goes over; null: the default one.", null)
}
export const timeoutSecs = or(of(int(1, 600), "How long it may ring, in seconds.", 30), 60)
export const callerIdForwarding = or(
  of(Schema.Boolean, "`from` may be any number; only where the workspace's quota allows it.", false),
  false
)

/** The request body of a new call; the body of a verb is declared with the verb. */
export const PlaceCall = body("PlaceCall", {
  ...parties,
  record: or(
    of(
      Schema.Literals(["off", "on_answer", "on_ringing", "on_demand"]),
      "When recording begins. `on_demand`: with `start_recording`, which then records as said here.",
      "off"
    ),
    "off"
  ),
  recordChannels: or(channels, "single"),
  recordFormat: or(format, "mp3"),
  customerReference: nullable(Text.of(0, 128), "Shown on the call and told with each of its events.", "order 7"),
  answeringMachineDetection: or(
    of(Schema.Literals(["off", "premium"]), "`premium`: who answered is told by `call.amd_complete`.", "off"),
    "off"
  ),
  audioUrl: Schema.optionalKey(
    httpsUrl("Played to the far end before it answers, again and again, where it takes early media.")
  ),
  customHeaders: or(CustomHeader.CustomHeaders, []),
  timeoutSecs,
  timeLimitSecs: nullable(int(1, 86_400), "The longest answered time, in seconds; null: no limit of its own.", 3_600),
  callerIdForwarding
})

/** The options of its dial, besides the numbers. */
export const optionsOf = ({
  answeringMachineDetection,
  audioUrl,
  customHeaders
}: typeof PlaceCall.Type): DialOptions => ({
  ...(audioUrl === undefined ? {} : { audioUrl }),
  ...(answeringMachineDetection === "off" ? {} : { detectsMachine: true }),
  ...(customHeaders.length === 0 ? {} : { headers: customHeaders })
})

/** The actions that the new call takes by itself. */
export const planOf = ({
  answeringMachineDetection: machineDetection,
  record,
  recordChannels,
  recordFormat
}: typeof PlaceCall.Type): Plan => ({ machineDetection, record, recordChannels, recordFormat, stream: null })
