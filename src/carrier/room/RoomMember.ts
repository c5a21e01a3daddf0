import type { CommandId, MemberId } from "../../domain/Id.ts"
import type { SupervisorRole } from "./RoomCommand.ts"
import type { MemberFacts } from "./RoomEvent.ts"
import type { Join, SeatChange } from "./RoomMedia.ts"

/** A leg that is in a room, or comes in. */
export interface RoomMember {
  readonly of: Pick<Join, "callId" | "conferenceId" | "legId" | "memberId">
  /** Commands that brought it here and have no outcome yet. */
  asked: Array<CommandId>
  /** Whether it is in. */
  stands: boolean
  isMuted: boolean
  isHeld: boolean
  role: SupervisorRole
  targets: ReadonlyArray<MemberId>
  isSpeaking: boolean
  /** Monotonic milliseconds, as `changedAt`. */
  since: number
  changedAt: number
  /** What waits until it is in (true), or will never be (false). */
  readonly behind: Array<(stands: boolean) => void>
}

/** One that comes in. */
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
