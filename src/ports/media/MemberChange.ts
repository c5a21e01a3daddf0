import { Schema } from "effect"
import { MemberId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/**
 * Members of rooms: how they enter, how they are changed, and how a change is reported. A verb of a conference makes a
 * change, and the same value goes through the conference, its command and the media plane to the mixer.
 */

/** The values with which a member enters a room. */
export const entry = {
  /** Unique in the room, also among members that have left. */
  memberId: MemberId,
  /** The host has a channel of its own in recordings. */
  isHost: Schema.Boolean,
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean
} as const
export type Entry = Schema.Struct<typeof entry>["Type"]

export const entryOf = ({ isHeld, isHost, isMuted, memberId }: Entry): Entry => ({ memberId, isHost, isMuted, isHeld })

/**
 * Which members a member hears, and which hear it. `none`: an ordinary member. `monitor`: it hears all, and none hears
 * it. `whisper`: it hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export const SupervisorRole = Schema.Literals(["none", "monitor", "whisper", "barge"])
export type SupervisorRole = typeof SupervisorRole.Type

/** The flags of a member that changes set. */
export const flags = {
  /** No member hears it, whatever its role. */
  isMuted: Schema.Boolean,
  /** It neither hears nor is heard. */
  isHeld: Schema.Boolean,
  role: SupervisorRole,
  /** The members that hear a whisper while they are present and not on hold. */
  targets: Schema.Array(MemberId)
} as const
export type Flags = Schema.Struct<typeof flags>["Type"]

/** The flags of a member that has entered and was not changed since. */
export const flagsOf = ({ isHeld, isMuted }: Entry): Flags => ({ isMuted, isHeld, role: "none", targets: [] })

const { isHeld, isMuted, role, targets } = flags

export const MemberChange = Schema.Union([
  Schema.Struct({ type: Schema.tag("mute"), isMuted }),
  /** On hold it hears the sound at `audioUrl`, repeated, or silence. */
  Schema.Struct({ type: Schema.tag("hold"), isHeld, audioUrl: Schema.NullOr(Secret.url(Schema.String)) }),
  Schema.Struct({ type: Schema.tag("supervise"), role, targets })
])
export type MemberChange = typeof MemberChange.Type

/** The report that a change was carried out, with the flags that it has set. */
export const MemberChanged = Schema.Union([
  Schema.Struct({ type: Schema.tag("member_muted"), isMuted }),
  Schema.Struct({ type: Schema.tag("member_held"), isHeld }),
  Schema.Struct({ type: Schema.tag("member_supervises"), role, targets })
])
export type MemberChanged = typeof MemberChanged.Type

export const changedBy = (change: MemberChange): MemberChanged => {
  switch (change.type) {
    case "mute":
      return { type: "member_muted", isMuted: change.isMuted }
    case "hold":
      return { type: "member_held", isHeld: change.isHeld }
    case "supervise":
      return { type: "member_supervises", role: change.role, targets: change.targets }
  }
}
