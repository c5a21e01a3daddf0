import { Schema } from "effect"
import { ConferenceId } from "../../../../domain/Id.ts"
import { entry } from "../../../../ports/media/MemberChange.ts"
import { Millis } from "../leg/Leg.ts"

/**
 * The membership of a call's own leg in the room of a conference (guide/calls.md#conferences). The conference owns the
 * membership, and the call its leg: they exchange the messages of `RoomTell`.
 */
export const CallMember = Schema.Struct({
  conferenceId: ConferenceId,
  /** The values with which the leg was sent there. */
  ...entry,
  /**
   * `dialled`: the call was placed for this membership, and is not answered yet. `entering`: its leg was sent there.
   * `in`: the carrier has reported that it is there.
   */
  phase: Schema.Literals(["dialled", "entering", "in"]),
  /** When the phase began. */
  since: Millis,
  /** The call was placed for this membership: it is hung up if it cannot enter. */
  wasDialled: Schema.Boolean
})
export type CallMember = typeof CallMember.Type
