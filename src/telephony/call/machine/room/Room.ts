import { Schema } from "effect"
import { ConferenceId, MemberId } from "../../../../domain/Id.ts"
import { Millis } from "../leg/Leg.ts"

/**
 * The seat that a call has in the room of a conference, for its own leg (guide/calls.md#conferences). The conference owns
 * the seat, and the call its leg: they tell each other by `RoomTell`.
 */
export const Room = Schema.Struct({
  conferenceId: ConferenceId,
  memberId: MemberId,
  /**
   * `dialled`: the call was placed for this seat, and is not answered yet. `entering`: its leg was sent there. `in`: the
   * carrier has told that it is there.
   */
  phase: Schema.Literals(["dialled", "entering", "in"]),
  /** Of the phase. */
  since: Millis,
  /** The call was placed for this seat: where it cannot come in, it is hung up. */
  wasDialled: Schema.Boolean,
  /** With which the leg was sent there. */
  isHost: Schema.Boolean,
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean
})
export type Room = typeof Room.Type
