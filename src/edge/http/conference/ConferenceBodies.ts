import { Schema } from "effect"
import { ConferenceField } from "../../../telephony/conference/Conference.ts"
import * as BodyField from "../../../telephony/verb/BodyField.ts"
import * as Name from "../../../domain/schema/Name.ts"
import * as PathId from "../request/PathId.ts"
import * as Text from "../request/Text.ts"
import * as CallBodies from "../call/CallBodies.ts"
import { body, of, or } from "../../../domain/schema/RequestField.ts"

const noWaiting = "needs start_on_create false"

/** The request body of a new conference, guide/conferences.md#creating-a-conference. */
export const CreateConference = body("CreateConference", {
  name: of(Name.of(120), "Unique among the workspace's rooms that are not completed.", "Weekly"),
  hostCallId: PathId.prefixed("call").annotate({ description: "A call that is answered or bridged: it is the host." }),
  beepEnabled: or(ConferenceField.beepEnabled, "never"),
  startOnCreate: or(of(Schema.Boolean, "False: the room starts when its second participant comes in.", false), true),
  endOnExit: or(of(Schema.Boolean, "The room ends when the host leaves.", true), true),
  maxParticipants: or(ConferenceField.maxParticipants, 10),
  durationMinutes: or(ConferenceField.durationMinutes, 720),
  holdAudioUrl: Schema.optionalKey(
    BodyField.httpsUrl("With `start_on_create` false: what those hear, on hold, who wait for the start.")
  ),
  endWhenAloneSecs: Schema.optionalKey(ConferenceField.endWhenAloneSecs),
  ...ConferenceField.rule
}).check(
  Schema.makeFilter((body) =>
    body.startOnCreate && body.holdAudioUrl !== undefined
      ? { path: ["hold_audio_url"], issue: noWaiting }
      : ConferenceField.ruleFault(body)
  )
)

/** The person to be dialled into the conference, guide/conferences.md#dialling-somebody-in. */
export const DialParticipant = body("DialParticipant", {
  ...CallBodies.parties,
  timeoutSecs: CallBodies.timeoutSecs,
  customerReference: Text.optional(128, "Told with each event of its call.", "order 7"),
  callerIdForwarding: CallBodies.callerIdForwarding,
  ...ConferenceField.entering
}).check(Schema.makeFilter(ConferenceField.enteringFault))
