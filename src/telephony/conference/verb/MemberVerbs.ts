import { Schema } from "effect"
import { BodyField, reservationErrors } from "../../call/Call.ts"
import * as Id from "../../../domain/Id.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { type Body, verb } from "./ConferenceVerb.ts"

/** Verbs about members. */

export const join = verb({
  summary: "Bring a call into the room",
  body: Schema.Struct({
    callId: BodyField.of(
      Id.spelled("call"),
      "A call that is answered or bridged.",
      Id.schema("call").make(`svc_call_${"0123456789abcdef".repeat(2)}`)
    ),
    mute: BodyField.or(BodyField.of(Schema.Boolean, "It comes in muted.", false), false),
    hold: BodyField.or(BodyField.of(Schema.Boolean, "It comes in on hold.", false), false),
    ...ConferenceField.region
  })
    .pipe(Schema.encodeKeys({ callId: "call_id" }))
    .pipe(Schema.annotateEncoded({ identifier: "JoinConference" })),
  errors: [...reservationErrors, "call_not_in_required_state", "conference_full", "conflict", "unprocessable"]
})

const ofLegs = (identifier: string) =>
  Schema.Struct({ legIds: ConferenceField.legIds, ...ConferenceField.region })
    .pipe(Schema.encodeKeys({ legIds: "leg_ids" }))
    .pipe(Schema.annotateEncoded({ identifier }))

export const mute = verb({ summary: "Mute members", body: ofLegs("MuteMembers"), errors: ["member_not_found"] })
export const unmute = verb({ summary: "Unmute members", body: ofLegs("UnmuteMembers"), errors: ["member_not_found"] })

export const hold = verb({
  summary: "Put members on hold: they neither hear nor are heard",
  body: Schema.Struct({
    legIds: ConferenceField.legIds,
    audioUrl: Schema.optionalKey(BodyField.httpsUrl("What they hear meanwhile, again and again; without it silence.")),
    ...ConferenceField.region
  })
    .pipe(Schema.encodeKeys({ legIds: "leg_ids", audioUrl: "audio_url" }))
    .pipe(Schema.annotateEncoded({ identifier: "HoldMembers" })),
  errors: ["member_not_found"],
  targets: ({ audioUrl }) => (audioUrl === undefined ? {} : { audio_url: audioUrl })
})
export const unhold = verb({
  summary: "Take members off hold",
  body: ofLegs("UnholdMembers"),
  errors: ["member_not_found"]
})

const supervision = {
  legId: BodyField.of(
    Id.spelled("leg"),
    "The supervisor: a member that is in the room.",
    Id.schema("leg").make(`svc_leg_${"0123456789abcdef".repeat(2)}`)
  ),
  role: BodyField.of(
    Schema.Literals(["monitor", "whisper", "barge", "none"]),
    "`monitor`: it hears all, and nobody hears it. `whisper`: only the legs of `whisper_leg_ids` hear it. `barge` and `none`: it hears all, and all hear it.",
    "monitor"
  ),
  whisperLegIds: ConferenceField.whisperLegIds
}

const noTargets = "is required with the role whisper"

export const supervise = verb({
  summary: "Change who hears a member",
  body: Schema.Struct({ ...supervision, ...ConferenceField.region })
    .pipe(Schema.encodeKeys({ legId: "leg_id", whisperLegIds: "whisper_leg_ids" }))
    .check(
      Schema.makeFilter((body) =>
        body.role === "whisper" && body.whisperLegIds === undefined
          ? { path: ["whisper_leg_ids"], issue: noTargets }
          : undefined
      )
    )
    .pipe(Schema.annotateEncoded({ identifier: "Supervise" })) satisfies Body,
  errors: ["member_not_found", "conference_action_invalid"]
})

/** The fields of one member that may be changed. */
export const change = Schema.Struct({
  endOnExit: Schema.optionalKey(BodyField.of(Schema.Boolean, "Whether the room is closed when it leaves.", true)),
  softEndOnExit: Schema.optionalKey(
    BodyField.of(Schema.Boolean, "Whether the room is closed when it has left and nobody off hold is there.", true)
  ),
  beepEnabled: Schema.optionalKey(ConferenceField.beepEnabled)
})
  .pipe(Schema.encodeKeys({ endOnExit: "end_on_exit", softEndOnExit: "soft_end_on_exit", beepEnabled: "beep_enabled" }))
  .pipe(Schema.annotateEncoded({ identifier: "UpdateParticipant" }))
