import type { CommandId, MemberId } from "../../domain/Id.ts"
import type { SupervisorRole } from "./RoomCommand.ts"
import type { MemberFacts } from "./RoomEvent.ts"
import type { Join, SeatChange } from "./RoomMedia.ts"

/** A leg that is in a room, or joins it. */
export interface RoomMember {
  readonly of: Pick<Join, "callId" | "conferenceId" | "legId" | "memberId">
  /** The commands that brought it here and have no outcome yet. */
  asked: Array<CommandId>
  /** Whether the member has joined. */
  stands: boolean
  isMuted: boolean
  isHeld: boolean
  role: SupervisorRole
  targets: ReadonlyArray<MemberId>
  isSpeaking: boolean
  /** In monotonic milliseconds, like `changedAt`. */
  since: number
  changedAt: number
  /** Actions that wait until the member has joined (true), or never will (false). */
  readonly behind: Array<(stands: boolean) => void>
}

/** A member that begins to join. */
export const make = ({ callId, commandId, conferenceId, isHeld, isMuted, legId, memberId }: Join): RoomMember => ({
  of: { callId, conferenceId, legId, memberId },
  asked: [commandId],
  stands: false,
  isMuted,
  isHeld,
  role: "none",
  targets: [],
  isSpeaking: false,
  since: 0,
  changedAt: 0,
  behind: []
})

export const change = (member: RoomMember, seat: SeatChange, now: number): void => {
  member.changedAt = now
  switch (seat.type) {
    case "muted":
      member.isMuted = seat.isMuted
      return
    case "held":
      member.isHeld = seat.isHeld
      return
    case "role":
      member.role = seat.role
      member.targets = seat.targets
  }
}

export const facts = (member: RoomMember, now: number): MemberFacts => {
  const { callId, legId, memberId } = member.of
  const { isHeld, isMuted, role, targets } = member
  const ages = { ageMs: now - member.since, changedMs: now - member.changedAt }
  return { memberId, callId, legId, isMuted, isHeld, role, targets, ...ages }
}
