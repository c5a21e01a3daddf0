import { Schema } from "effect"
import * as Id from "../Id.ts"
import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"
import type { Family } from "./PublicEvent.ts"

/** The fields of every event of a room. The call, its leg and its reference are the host's. */
const ofRoom = {
  conferenceId: Field.conferenceId,
  callId: Field.callId("The host's call."),
  legId: Field.legId("The leg of the host's call."),
  customerReference: Field.customerReference
}

/** The fields of every event of a member. */
const ofMember = {
  conferenceId: Field.conferenceId,
  memberId: Field.memberId,
  callId: Field.callId("The member's call."),
  legId: Field.legId("The member's leg, which the actions of the room take."),
  customerReference: Field.customerReference
}

const role = Field.oneOf("The host's leg, or another one.", ["host", "participant"])

/** Why a conference ended. */
export const EndReason = Schema.Literals([
  "api",
  "host_left",
  "member_left",
  "all_on_hold",
  "empty",
  "alone",
  "left_on_hold",
  "duration",
  "carrier",
  "operator",
  "service"
])
export type EndReason = typeof EndReason.Type

/** Why a member left its room. */
export const LeftReason = Schema.Literals(["api", "call_ended", "carrier", "conference_ended", "moved"])
export type LeftReason = typeof LeftReason.Type

export const rows = {
  "conference.started": {
    when: "The room is live.",
    data: Wire.struct({
      ...ofRoom,
      name: Field.text("As it was created with.", "Weekly"),
      hostCallId: Field.callIdOrNull("The host's call; null when it is no longer kept.")
    })
  },
  "conference.ended": {
    when: "The room was closed.",
    data: Wire.struct({
      ...ofRoom,
      endedAt: Field.time("When it was closed."),
      durationSeconds: Field.seconds("How long it was live."),
      reason: Field.oneOf(
        "`api`: an `end`. `host_left`: the host left, and the room had `end_on_exit`. `member_left`: a member with `end_on_exit` left. `all_on_hold`: one with `soft_end_on_exit` had left, and all others were on hold. `empty`: the last one left. `alone`: all but one had left for `end_when_alone_secs`. `left_on_hold`: the last one was left on hold, and the room had `on_member_left` `hangup`. `duration`: its minutes were over. `carrier`: the carrier could not make the room, or lost it. `operator`, `service`: they ended it.",
        EndReason.literals
      )
    })
  },
  "conference.member_joined": {
    when: "A leg came into the room.",
    data: Wire.struct({ ...ofMember, role, joinedAt: Field.time("When it came in.") })
  },
  "conference.member_left": {
    when: "A leg left the room.",
    data: Wire.struct({
      ...ofMember,
      role,
      leftAt: Field.time("When it left."),
      reason: Field.oneOf(
        "`api`: it was taken out. `call_ended`: its call ended. `moved`: its call went elsewhere, as by a transfer. `conference_ended`: the room was closed. `carrier`: the carrier lost it.",
        LeftReason.literals
      )
    })
  },
  "conference.member_muted": {
    when: "A member was muted.",
    data: Wire.struct(ofMember)
  },
  "conference.member_unmuted": {
    when: "A member was unmuted.",
    data: Wire.struct(ofMember)
  },
  "conference.member_held": {
    when: "A member was put on hold.",
    data: Wire.struct(ofMember)
  },
  "conference.member_unheld": {
    when: "A member was taken off hold.",
    data: Wire.struct(ofMember)
  },
  "conference.member_role_changed": {
    when: "The members that hear this one have changed.",
    data: Wire.struct({
      ...ofMember,
      supervisorRole: Field.oneOf("`none`: an ordinary member again.", ["monitor", "whisper", "barge", "none"]),
      whisperLegIds: Schema.Array(Id.LegId).annotate({
        description: "The legs that hear a whisper; empty with another role.",
        examples: [[]]
      })
    })
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
      ...ofRoom,
      playbackId: Field.text("Of this sound or speech.", "0123456789abcdef0123456789abcdef"),
      status: Field.oneOf("How it ended.", ["completed", "stopped", "failed"]),
      reason: Field.textOrNull("Why it did not play to its end; null when it did.", null),
      endedAt: Field.time("When it ended."),
      heldLegId: Field.legIdOrNull("The leg on hold that was to hear it; null: it was no sound of a hold.")
    })
  }
} as const satisfies Family<"conference">
