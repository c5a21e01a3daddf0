import { Schema } from "effect"
import { entry } from "../../../../ports/media/MemberChange.ts"
import { CallId, ConferenceId, LegId, MemberId } from "../../../../domain/Id.ts"

/**
 * The messages between conferences and calls. A conference owns memberships, and a call owns its leg: a membership is
 * claimed by the conference, taken by the call (which sends its leg there), and freed by the one that is over first.
 *
 * A message may arrive late, twice, or after the end. Each names the member, an id that no other membership has; an
 * unknown or finished one changes nothing. The conference repeats unanswered messages, and a call answers each time.
 */
const ofMember = { conferenceId: ConferenceId, memberId: MemberId }

/** From a conference to a call. */
export const ToCall = Schema.Union([
  /**
   * A membership is ready for the call's own leg, in a room of the carrier `adapter`. Answered by `entered`, `refused`
   * or (after that) `left`. A call that was dialled for this membership knows it, and answers with its present state.
   */
  Schema.Struct({
    conferenceId: ConferenceId,
    ...entry,
    type: Schema.tag("enter"),
    adapter: Schema.String
  }),
  /**
   * The conference is over, or has removed a ringing member: the call is hung up if it still has this membership.
   * Answered by
   * `left`.
   */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("over"),
    by: Schema.Literals(["api", "system"]),
    /** The member was removed while ringing, and the conference continues; absent: the conference is over. */
    isRemoved: Schema.optionalKey(Schema.Literal(true)),
    /** The carrier could not create the room: a call that was not dialled for it continues without it. */
    neverStood: Schema.optionalKey(Schema.Literal(true))
  })
])
export type ToCall = typeof ToCall.Type

/** From a call to a conference. */
export const ToConference = Schema.Union([
  /** The call has taken the membership and has sent its leg there. The room reports when the leg is in. */
  Schema.Struct({ ...ofMember, type: Schema.tag("entered"), callId: CallId, legId: LegId }),
  /** The call has not taken the membership, and will not. `gone`: there is no such call, or it has ended. */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("refused"),
    callId: CallId,
    reason: Schema.Literals(["gone", "not_answered", "in_another_room", "balance_insufficient", "carrier_error"])
  }),
  /** The call no longer has the membership: it left, was hung up, or ended before it entered. */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("left"),
    callId: CallId,
    /** The call has ended, or there is none. */
    isCallOver: Schema.optionalKey(Schema.Literal(true))
  })
])
export type ToConference = typeof ToConference.Type
