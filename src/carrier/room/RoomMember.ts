import type { CommandId } from "../../domain/Id.ts"
import { changedBy, type Flags, flagsOf, type MemberChange } from "../../ports/media/MemberChange.ts"
import type { MemberFacts } from "./RoomEvent.ts"
import type { Join } from "./RoomMedia.ts"

/** A leg that is in a room, or joins it. */
export interface RoomMember {
  readonly of: Pick<Join, "callId" | "conferenceId" | "legId" | "memberId">
  /** The commands that brought it here and have no outcome yet. */
  asked: Array<CommandId>
  /** Whether the member has joined. */
  stands: boolean
  flags: Flags
  isSpeaking: boolean
  /** In monotonic milliseconds, like `changedAt`. */
  since: number
  changedAt: number
  /** Actions that wait until the member has joined (true), or never will (false). */
  readonly behind: Array<(stands: boolean) => void>
}

/** A member that begins to join. */
export const make = (join: Join): RoomMember => ({
  of: { callId: join.callId, conferenceId: join.conferenceId, legId: join.legId, memberId: join.memberId },
  asked: [join.commandId],
  stands: false,
  flags: flagsOf(join),
  isSpeaking: false,
  since: 0,
  changedAt: 0,
  behind: []
})

export const change = (member: RoomMember, asked: MemberChange, now: number): void => {
  const { type: _, ...flags } = changedBy(asked)
  member.flags = { ...member.flags, ...flags }
  member.changedAt = now
}

export const facts = (member: RoomMember, now: number): MemberFacts => {
  const { callId, legId, memberId } = member.of
  const ages = { ageMs: now - member.since, changedMs: now - member.changedAt }
  return { memberId, callId, legId, ...member.flags, ...ages }
}
