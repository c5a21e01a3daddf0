import { Schema } from "effect"
import { MemberId, WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/**
 * Members of rooms: how they enter, how they are changed, and how a change is reported. A verb of a conference makes a
 * change, and the same value goes through the conference, its command and the media plane to the mixer.
 */

/**
 * Which members a member hears, and which hear it. `none`: an ordinary member. `monitor`: it hears all, and none hears
 * it. `whisper`: it hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export const SupervisorRole = Schema.Literals(["none", "monitor", "whisper", "barge"])
export type SupervisorRole = typeof SupervisorRole.Type

/** How a member supervises, and what it hears on hold, from its first moment on. */
export const settings = {
  /** Absent: it is an ordinary member. */
  role: Schema.optionalKey(SupervisorRole),
  /** The members that hear its whisper. */
  targets: Schema.optionalKey(Schema.Array(MemberId)),
  /** The sound that it hears while it is on hold; absent: silence. */
  audioUrl: Schema.optionalKey(Secret.url(Schema.String)),
  /** Names that sound in the report that it cannot be played. */
  audioId: Schema.optionalKey(WorkId)
} as const
export type Settings = Schema.Struct<typeof settings>["Type"]

/** The values with which a member enters a room. */
export const entry = {
  /** Unique in the room, also among members that have left. */
  memberId: MemberId,
  /** The host has a channel of its own in recordings. */
  isHost: Schema.Boolean,
  isMuted: Schema.Boolean,
  isHeld: Schema.Boolean,
  ...settings
} as const
export type Entry = Schema.Struct<typeof entry>["Type"]

export const settingsOf = ({ audioId, audioUrl, role, targets }: Settings): Settings => ({
  ...(role === undefined ? {} : { role }),
  ...(targets === undefined ? {} : { targets }),
  ...(audioUrl === undefined ? {} : { audioUrl }),
  ...(audioId === undefined ? {} : { audioId })
})

export const entryOf = (entry: Entry): Entry => {
  const { isHeld, isHost, isMuted, memberId } = entry
  return { memberId, isHost, isMuted, isHeld, ...settingsOf(entry) }
}

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
export const flagsOf = ({ isHeld, isMuted, role = "none", targets = [] }: Entry): Flags => ({
  isMuted,
  isHeld,
  role,
  targets
})

const { isHeld, isMuted, role, targets } = flags

export const MemberChange = Schema.Union([
  Schema.Struct({ type: Schema.tag("mute"), isMuted }),
  /**
   * On hold it hears the sound at `audioUrl`, repeated, or silence. The end of a sound that cannot be played is
   * reported under `audioId`, and comfort noise takes its place.
   */
  Schema.Struct({
    type: Schema.tag("hold"),
    isHeld,
    audioUrl: Schema.NullOr(Secret.url(Schema.String)),
    audioId: Schema.optionalKey(WorkId)
  }),
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
