import type { ConferenceId, MemberId } from "../../domain/Id.ts"
import type { RoomMember } from "./RoomMember.ts"

/** A room, by the book of its carrier (`RoomBook`). */
export interface Room {
  /** The carrier that has it. */
  readonly by: string
  readonly id: ConferenceId
  /** `ending`: nobody is in it, and its media still tell; `over`: its end has been told, and is not through. */
  phase: "opening" | "live" | "ending" | "over"
  readonly members: Map<MemberId, RoomMember>
  /** Members that were removed before they came. */
  readonly removed: Set<MemberId>
  /** What waits until it is live (true), or will never be (false). */
  readonly behind: Array<(isLive: boolean) => void>
}

/** Members removed before they came that a room remembers; then the oldest are forgotten. */
const maxRemoved = 1_000

export const make = (by: string, id: ConferenceId): Room => ({
  by,
  id,
  phase: "opening",
  members: new Map(),
  removed: new Set(),
  behind: []
})

/** Whether it takes commands. */
export const isOpen = ({ phase }: Room): boolean => phase === "opening" || phase === "live"

/** Calls `act` as soon as it is known whether the room stands. */
export const whenLive = ({ behind, phase }: Room, act: (isLive: boolean) => void): void =>
  phase === "opening" ? void behind.push(act) : act(phase === "live")

/** This member does not come in any more. */
export const keepOut = ({ removed }: Room, memberId: MemberId): void => {
  removed.add(memberId)
  for (const oldest of removed) {
    if (removed.size <= maxRemoved) return
    removed.delete(oldest)
  }
}
