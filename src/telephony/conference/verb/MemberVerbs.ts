import { Schema } from "effect"
import { rejected } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MemberChange } from "../../../ports/media/MemberChange.ts"
import * as BodyField from "../../verb/BodyField.ts"
import { reservationErrors } from "../../verb/Verb.ts"
import { isPresent } from "../machine/ConferenceState.ts"
import * as MemberChanges from "../machine/MemberChanges.ts"
import * as RoomMembers from "../machine/RoomMembers.ts"
import * as ConferenceField from "./ConferenceField.ts"
import { type ConferenceVerb, verb } from "./ConferenceVerb.ts"

/** Verbs about members. */

const alreadyMember = ApiError.of("conflict", "the call is in this conference already", "call_id")

export const join = verb({
  summary: "Bring a call into the room",
  when: "open",
  body: BodyField.body("JoinConference", {
    callId: BodyField.id("call", "A call that is answered or bridged."),
    ...ConferenceField.entering,
    ...ConferenceField.region
  }).check(Schema.makeFilter(ConferenceField.enteringFault)),
  errors: [
    ...reservationErrors,
    "member_not_found",
    "call_not_in_required_state",
    "conference_full",
    "conflict",
    "unprocessable"
  ],
  targets: ({ holdAudioUrl }) => ({ hold_audio_url: holdAudioUrl }),
  act: ({ builder, context, joining }, body) => {
    const { callId } = body
    if (builder.state.members.some((member) => member.callId === callId && isPresent(member)))
      return rejected(alreadyMember)
    if (RoomMembers.isFull(builder.state)) return rejected(RoomMembers.full)
    const id = Id.derive(context.seed, "member")
    const enters = RoomMembers.entering(builder.state, body, id, context)
    if (enters === null) return rejected(RoomMembers.noMember("whisper_leg_ids"))
    const fields = { id, callId, ...joining, ...enters, phase: "claimed" } as const
    return RoomMembers.callIn(RoomMembers.add(builder, fields, context.now), id, context.now)
  }
})

type OfLegs = Schema.Codec<{ readonly legIds: ReadonlyArray<Id.LegId> }, unknown>

/** A verb that makes the same change of each member in `leg_ids`. */
const changing = <const S extends OfLegs>(
  row: Pick<ConferenceVerb<S>, "summary" | "body" | "targets">,
  change: (body: S["Type"]) => MemberChange
) =>
  verb({
    ...row,
    when: "open",
    errors: ["member_not_found"],
    act: ({ builder, context }, body) => MemberChanges.ask(builder, body.legIds, "leg_ids", change(body), context)
  })

const ofLegs = { legIds: ConferenceField.legIds, ...ConferenceField.region }

export const mute = changing({ summary: "Mute members", body: BodyField.body("MuteMembers", ofLegs) }, () => ({
  type: "mute",
  isMuted: true
}))
export const unmute = changing({ summary: "Unmute members", body: BodyField.body("UnmuteMembers", ofLegs) }, () => ({
  type: "mute",
  isMuted: false
}))

export const hold = changing(
  {
    summary: "Put members on hold: they neither hear nor are heard",
    body: BodyField.body("HoldMembers", {
      legIds: ConferenceField.legIds,
      audioUrl: Schema.optionalKey(
        BodyField.httpsUrl("What they hear meanwhile, again and again; without it silence.")
      ),
      ...ConferenceField.region
    }),
    targets: ({ audioUrl }) => ({ audio_url: audioUrl })
  },
  ({ audioUrl = null }) => ({ type: "hold", isHeld: true, audioUrl })
)
export const unhold = changing(
  { summary: "Take members off hold", body: BodyField.body("UnholdMembers", ofLegs) },
  () => ({ type: "hold", isHeld: false, audioUrl: null })
)

export const supervise = verb({
  summary: "Change who hears a member",
  when: "begun",
  body: BodyField.body("Supervise", {
    legId: BodyField.id("leg", "The supervisor: a member that is in the room."),
    role: ConferenceField.supervisorRole,
    whisperLegIds: ConferenceField.whisperLegIds,
    ...ConferenceField.region
  }).check(Schema.makeFilter(ConferenceField.whisperFault)),
  errors: ["member_not_found", "conference_action_invalid"],
  act: ({ builder, context }, { legId, role, whisperLegIds }) => {
    if (RoomMembers.membersOf(builder.state, [legId]) === null) return rejected(RoomMembers.noMember("leg_id"))
    const targets = RoomMembers.hearers(builder.state, role, whisperLegIds)
    if (targets === null) return rejected(RoomMembers.noMember("whisper_leg_ids"))
    return MemberChanges.ask(builder, [legId], "leg_id", { type: "supervise", role, targets }, context)
  }
})

/** The fields of one member that may be changed. */
export const change = BodyField.body("UpdateParticipant", {
  ...ConferenceField.onExit,
  beepEnabled: Schema.optionalKey(ConferenceField.beepEnabled)
})
