import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Id from "../../domain/Id.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { ConferenceRow } from "./stored/ConferenceList.ts"
import { Beep, type ConferenceState, OnMemberLeft } from "./machine/ConferenceState.ts"
import * as ParticipantView from "./ParticipantView.ts"

const example = "2026-01-01T00:00:00.000Z"

/**
 * A conference as the API shows it, guide/conferences.md#the-conference. `participants` is complete on retrieve and in
 * the replies of actions, and empty on list rows.
 */
export const Conference = Wire.struct({
  id: Field.conferenceId,
  tenantId: Field.uuid(Id.TenantId, "The workspace."),
  name: Field.text("Unique among the rooms that are not completed.", "Weekly"),
  status: Field.oneOf("`completed` is terminal.", ["init", "in_progress", "completed"]),
  hostCallId: Field.callIdOrNull("The host's call; null when it is no longer kept."),
  beepEnabled: Field.oneOf("When those in the room hear a tone.", Beep.literals),
  startOnCreate: Field.flag("False: the room waits for its second participant.", true),
  endOnExit: Field.flag("The room ends when its host leaves.", true),
  maxParticipants: Field.count("How many it holds: the host, those inside and those who still ring.", 10),
  durationMinutes: Field.count("How long it may last.", 720),
  endWhenAloneSecs: Field.countOrNull(
    "It ends when all but one have left for so many seconds; null: it does not.",
    null
  ),
  onMemberLeft: Field.oneOf("What is done with the last one when it is left on hold.", OnMemberLeft.literals),
  startedAt: Field.timeOrNull("When it became live; null until then.", example),
  endedAt: Field.timeOrNull("When it was over; null until then."),
  createdAt: Field.time("When it was created."),
  participants: Schema.Array(ParticipantView.ConferenceParticipant).annotate({
    description:
      "Who is there or rings, and the last 250 who have left, in the order in which they came; empty on list rows."
  })
}).pipe(Schema.annotateEncoded({ identifier: "Conference" }))
export type Conference = typeof Conference.Encoded

const encode = Wire.encoder(Conference)

export const ofState = (state: ConferenceState, now: ParticipantView.Now): Conference =>
  encode({
    ...state,
    endWhenAloneSecs: state.endWhenAloneSecs ?? null,
    onMemberLeft: state.onMemberLeft ?? "none",
    participants: state.members.map((member) => ParticipantView.shown(state.id, member, now))
  })

/** Hides the host's call when it is not in `kept`, because retention has deleted it. */
export const withHost = (room: Conference, kept: ReadonlySet<string>): Conference =>
  room.host_call_id === null || kept.has(room.host_call_id) ? room : { ...room, host_call_id: null }

/** The view of a list row. */
export const ofRow = (row: ConferenceRow): Conference =>
  encode({
    ...row,
    onMemberLeft: row.onMemberLeft ?? "none",
    startOnCreate: row.startOnCreate === 1,
    endOnExit: row.endOnExit === 1,
    participants: []
  })

/** The exact bytes of a response. */
export const render = (state: ConferenceState, now: ParticipantView.Now): string => JSON.stringify(ofState(state, now))
