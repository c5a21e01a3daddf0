import { Schema } from "effect"
import { CallId, ConferenceId, LegId, MemberId } from "../../../../domain/Id.ts"

/**
 * What conferences and calls tell each other. A conference owns seats, and a call owns its leg: so a seat is claimed by
 * the conference, taken by the call (which sends its leg there), and freed by whichever is over first.
 *
 * Each may hear it late, twice, or when it has ended. Everything names the member, an id that no other seat has: what is
 * unknown or over changes nothing. The conference says again what was not answered, and a call answers each time.
 */
const ofMember = { conferenceId: ConferenceId, memberId: MemberId }

/** From a conference to a call. */
export const ToCall = Schema.Union([
  /**
   * A seat waits for the call's own leg, in a room of the carrier `adapter`. Answered by `entered`, `refused` or (behind
   * that) `left`. A call that was dialled for this seat knows it, and answers with what became of it.
   */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("enter"),
    adapter: Schema.String,
    isHost: Schema.Boolean,
    isMuted: Schema.Boolean,
    isHeld: Schema.Boolean
  }),
  /**
   * The conference is over, or has removed a member who still rings: the call is hung up, if it still has this seat.
   * Answered by `left`.
   */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("over"),
    by: Schema.Literals(["api", "system"]),
    /** The member was taken out while it rang, and the conference goes on without it; absent: the conference is over. */
    isRemoved: Schema.optionalKey(Schema.Literal(true)),
    /** The carrier could not make the room: a call that was not dialled for it goes on without it. */
    neverStood: Schema.optionalKey(Schema.Literal(true))
  })
])
export type ToCall = typeof ToCall.Type

/** From a call to a conference. */
export const ToConference = Schema.Union([
  /** The call has taken the seat, and has sent its leg there. The room tells when it is in. */
  Schema.Struct({ ...ofMember, type: Schema.tag("entered"), callId: CallId, legId: LegId }),
  /** It has not taken it, and will not. `gone`: there is no such call, or it has ended. */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("refused"),
    callId: CallId,
    reason: Schema.Literals(["gone", "not_answered", "in_another_room", "balance_insufficient", "carrier_error"])
  }),
  /** It has no part in the seat any more: it left, was hung up, or ended before it came in. */
  Schema.Struct({ ...ofMember, type: Schema.tag("left"), callId: CallId })
])
export type ToConference = typeof ToConference.Type
