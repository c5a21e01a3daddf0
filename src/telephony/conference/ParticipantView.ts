import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import type { ConferenceId, MemberId } from "../../domain/Id.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { Member } from "./machine/ConferenceState.ts"
import type { ParticipantRow } from "./stored/ParticipantList.ts"

/** A participant as the API shows it, guide/conferences.md#participants. Supervising members look like any other. */
export const ConferenceParticipant = Wire.struct({
  id: Field.memberId,
  conferenceId: Field.conferenceId,
  callId: Field.callId("Its call."),
  legId: Field.legIdOrNull("The call's leg, which the actions of the room take; null until it is known."),
  role: Field.oneOf("`host`: the leg of the call that the room was created with.", ["host", "participant"]),
  joinedAt: Field.timeOrNull("When it came in; null while it still rings.", "2026-01-01T00:00:00.000Z"),
  leftAt: Field.timeOrNull("When it left; null while it is there."),
  durationSeconds: Field.seconds("How long it has been in the room, in whole seconds."),
  isMuted: Field.flag("Nobody hears it.", false),
  isOnHold: Field.flag("It hears music or silence, and nobody hears it.", false),
  isSpeaking: Field.flag("It speaks right now.", true)
}).pipe(Schema.annotateEncoded({ identifier: "ConferenceParticipant" }))
export type ConferenceParticipant = typeof ConferenceParticipant.Encoded

const encode = Wire.encoder(ConferenceParticipant)

/** Facts that exist only in memory: the speaking members, and the time. */
export interface Now {
  /** The present, in the conference's own time. */
  readonly at: number
  readonly isSpeaking: (memberId: MemberId) => boolean
}

const durationSeconds = (joinedAt: number | null, until: number): number =>
  joinedAt === null ? 0 : Math.ceil(Math.max(0, until - joinedAt) / 1000)

/** The member under the field names of this view. */
export const shown = (
  conferenceId: ConferenceId,
  member: Member,
  { at, isSpeaking }: Now
): typeof ConferenceParticipant.Type => ({
  ...member,
  conferenceId,
  durationSeconds: durationSeconds(member.joinedAt, member.leftAt ?? at),
  isOnHold: member.isHeld,
  isSpeaking: member.phase === "joined" && isSpeaking(member.id)
})

export const ofMember = (conferenceId: ConferenceId, member: Member, now: Now): ConferenceParticipant =>
  encode(shown(conferenceId, member, now))

export const ofRow = (row: ParticipantRow, now: Now): ConferenceParticipant =>
  encode({
    ...row,
    durationSeconds: durationSeconds(row.joinedAt, row.leftAt ?? now.at),
    isMuted: row.isMuted === 1,
    isOnHold: row.isOnHold === 1,
    isSpeaking: row.leftAt === null && now.isSpeaking(row.id)
  })

/** The exact bytes of a response. */
export const render = (conferenceId: ConferenceId, member: Member, now: Now): string =>
  JSON.stringify(ofMember(conferenceId, member, now))
