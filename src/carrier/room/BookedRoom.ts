import type { ConferenceId, MemberId } from "../../domain/Id.ts"
import type { RoomMember } from "./RoomMember.ts"

/** A room in the bookkeeping of its carrier (`RoomBook`). */
export interface BookedRoom {
  /** The carrier that has the room. */
  readonly by: string
  readonly id: ConferenceId
  /**
   * `ending`: the room is empty, and its media still report; `over`: its end has been reported, and is not committed
   * yet.
   */
  phase: "opening" | "live" | "ending" | "over"
  readonly members: Map<MemberId, RoomMember>
  /** Members that were removed before they joined. */
  readonly removed: Set<MemberId>
  /** Actions that wait until the room is live (true), or will never be (false). */
  readonly behind: Array<(isLive: boolean) => void>
}

/** How many members removed before they joined a room remembers; beyond it, the oldest are forgotten. */
const maxRemoved = 1_000

export const make = (by: string, id: ConferenceId): BookedRoom => ({
  by,
  id,
  phase: "opening",
  members: new Map(),
  removed: new Set(),
  behind: []
})

/** Whether the room takes commands. */
export const isOpen = ({ phase }: BookedRoom): boolean => phase === "opening" || phase === "live"

/** Calls `act` as soon as it is known whether the room is live. */
export const whenLive = ({ behind, phase }: BookedRoom, act: (isLive: boolean) => void): void =>
  phase === "opening" ? void behind.push(act) : act(phase === "live")

/** Keeps this member from joining later. */
export const keepOut = ({ removed }: BookedRoom, memberId: MemberId): void => {
  removed.add(memberId)
  for (const oldest of removed) {
    if (removed.size <= maxRemoved) return
    removed.delete(oldest)
  }
}
