import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"
import type { Family } from "./PublicEvent.ts"

const ofMember = {
  conferenceId: Field.conferenceId,
  memberId: Field.memberId,
  callId: Field.callId("The member's call.")
}

const role = Field.oneOf("The host's leg, or another one.", ["host", "participant"])

export const rows = {
  "conference.started": {
    when: "The room is live.",
    data: Wire.struct({
      conferenceId: Field.conferenceId,
      name: Field.text("As it was created with.", "Weekly"),
      hostCallId: Field.callIdOrNull("The host's call; null when it is no longer kept.")
    })
  },
  "conference.ended": {
    when: "The room was closed.",
    data: Wire.struct({
      conferenceId: Field.conferenceId,
      endedAt: Field.time("When it was closed."),
      durationSeconds: Field.seconds("How long it was live.")
    })
  },
  "conference.member_joined": {
    when: "A leg came into the room.",
    data: Wire.struct({ ...ofMember, role, joinedAt: Field.time("When it came in.") })
  },
  "conference.member_left": {
    when: "A leg left the room.",
    data: Wire.struct({ ...ofMember, role, leftAt: Field.time("When it left.") })
  },
  "conference.member_muted": {
    when: "A member was muted.",
    data: Wire.struct(ofMember)
  },
  "conference.member_unmuted": {
    when: "A member was unmuted.",
    data: Wire.struct(ofMember)
  },
  "conference.member_speaking_started": {
    when: "A member began to speak.",
    onlyNewest: true,
    data: Wire.struct(ofMember)
  },
  "conference.member_speaking_ended": {
    when: "A member stopped speaking.",
    onlyNewest: true,
    data: Wire.struct(ofMember)
  },
  "conference.playback_ended": {
    when: "A sound or speech in the room is over, one way or another.",
    data: Wire.struct({
      conferenceId: Field.conferenceId,
      playbackId: Field.text("Of this sound or speech.", "0123456789abcdef0123456789abcdef"),
      status: Field.oneOf("How it ended.", ["completed", "stopped", "failed"]),
      reason: Field.textOrNull("Why it did not play to its end; null when it did.", null),
      endedAt: Field.time("When it ended.")
    })
  }
} as const satisfies Family<"conference">
