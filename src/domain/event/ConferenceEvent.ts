import { Schema } from "effect"
import * as Field from "../Field.ts"
import type { Family } from "./PublicEvent.ts"

const ofMember = {
  conference_id: Field.conferenceId,
  member_id: Field.memberId,
  call_id: Field.callId("The member's call.")
}

const role = Field.oneOf("The host's leg, or another one.", ["host", "participant"])

export const rows = {
  "conference.started": {
    when: "The room is live.",
    emitted: false,
    data: Schema.Struct({
      conference_id: Field.conferenceId,
      name: Field.text("As it was created with.", "Weekly"),
      host_call_id: Field.callIdOrNull("The host's call; null when it is no longer kept.")
    })
  },
  "conference.ended": {
    when: "The room was closed.",
    emitted: false,
    data: Schema.Struct({
      conference_id: Field.conferenceId,
      ended_at: Field.moment("When it was closed."),
      duration_seconds: Field.seconds("How long it was live.")
    })
  },
  "conference.member_joined": {
    when: "A leg came into the room.",
    emitted: false,
    data: Schema.Struct({ ...ofMember, role, joined_at: Field.moment("When it came in.") })
  },
  "conference.member_left": {
    when: "A leg left the room.",
    emitted: false,
    data: Schema.Struct({ ...ofMember, role, left_at: Field.moment("When it left.") })
  },
  "conference.member_muted": {
    when: "A member was muted.",
    emitted: false,
    data: Schema.Struct(ofMember)
  },
  "conference.member_unmuted": {
    when: "A member was unmuted.",
    emitted: false,
    data: Schema.Struct(ofMember)
  },
  "conference.member_speaking_started": {
    when: "A member began to speak.",
    emitted: false,
    data: Schema.Struct(ofMember)
  },
  "conference.member_speaking_ended": {
    when: "A member stopped speaking.",
    emitted: false,
    data: Schema.Struct(ofMember)
  }
} as const satisfies Family<"conference">
