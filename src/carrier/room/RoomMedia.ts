import type { ConferenceId, LegId, MemberId } from "../../domain/Id.ts"
import type { CarrierCommand } from "../CarrierCommand.ts"
import type { MemberChange } from "../../ports/media/MemberChange.ts"
import type { RoomCommand } from "./RoomCommand.ts"

export type Join = Extract<CarrierCommand, { readonly type: "join_room" }>
export type Of<Type extends RoomCommand["type"]> = Extract<RoomCommand, { readonly type: Type }>

/** The sound of rooms. The requests for one leg, and for one room, are carried out in order. */
export interface RoomMedia {
  /** `settled` is called later: with null, or with the reason why the plane has no place for the room. */
  readonly open: (command: Of<"create">, settled: (refusal: string | null) => void) => void
  /** Brings a leg in. `settled` is called later: with null, or with the reason why it cannot join. */
  readonly enter: (command: Join, settled: (refusal: string | null) => void) => void
  /** Takes a leg out of the room that it is in, or joins. */
  readonly leave: (legId: LegId) => void
  readonly change: (conferenceId: ConferenceId, memberId: MemberId, change: MemberChange) => void
  readonly beep: (conferenceId: ConferenceId, except: MemberId | null) => void
  readonly command: (command: Of<"media">) => void
  /** Releases all members; `closed` is called when the room has nothing left to report. */
  readonly close: (conferenceId: ConferenceId, closed: () => void) => void
}
