import { Schema } from "effect"
import { CommandId, ConferenceId, LegId, MemberId, TenantId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import { MediaCommand } from "../../ports/media/MediaMessage.ts"
import { Authority } from "../CarrierCommand.ts"

/** Every command of a conference to its room has these: plain data, and the same command however often it is sent. */
const ofRoom = {
  /** Identity of this command. Failures name it, and a carrier takes it once. */
  commandId: CommandId,
  conferenceId: ConferenceId
}
const ofMember = { ...ofRoom, memberId: MemberId }

/**
 * What a member hears and who hears it. `none`: like everybody. `monitor`: it hears all, and nobody hears it. `whisper`:
 * it hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export const SupervisorRole = Schema.Literals(["none", "monitor", "whisper", "barge"])
export type SupervisorRole = typeof SupervisorRole.Type

/** What a conference asks of its room. Legs come in and go by commands of their calls (`join_room`, `leave_room`). */
export const RoomCommand = Schema.Union([
  /** Makes the room, beside the leg `near`; idempotent. Outcome: `live`, or `command_failed`. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("create"), tenantId: TenantId, near: LegId }),
  /** Ends it, and lets its members go. Outcome: `over`, also of a room that this carrier never knew. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("end") }),
  /** Lets a member go; its leg goes on. Outcome: `member_left`, also of one who is not there. */
  Schema.Struct({ ...ofMember, type: Schema.tag("remove") }),
  /** Nobody hears a muted member. Outcome: `member_muted`, or `command_failed`. */
  Schema.Struct({ ...ofMember, type: Schema.tag("mute"), isMuted: Schema.Boolean }),
  /**
   * A member on hold neither hears nor is heard; it hears the sound at `audioUrl`, repeated, or silence. Outcome:
   * `member_held`, or `command_failed`.
   */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("hold"),
    isHeld: Schema.Boolean,
    audioUrl: Schema.NullOr(Secret.url(Schema.String))
  }),
  /** `targets` are those who hear a whisper. Outcome: `member_supervises`, or `command_failed`. */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("supervise"),
    role: SupervisorRole,
    targets: Schema.Array(MemberId)
  }),
  /** All but the member `except` (who comes or goes) and those on hold hear a short tone. No outcome. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("beep"), except: Schema.NullOr(MemberId) }),
  /**
   * Hands `media` to the media of the room: what it plays is heard by all who are not on hold, or by the members in
   * `to`; what it records is the room. Outcomes: its media events, or `command_failed`.
   */
  Schema.Struct({
    ...ofRoom,
    type: Schema.tag("media"),
    tenantId: TenantId,
    media: MediaCommand,
    to: Schema.NullOr(Schema.Array(MemberId))
  })
])
export type RoomCommand = typeof RoomCommand.Type

/** As `Order` of a leg's command. */
export const RoomOrder = Schema.Struct({ authority: Authority, command: RoomCommand })
export type RoomOrder = typeof RoomOrder.Type
