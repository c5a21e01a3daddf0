import { Schema } from "effect"
import { CommandId, ConferenceId, LegId, MemberId, TenantId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import { MediaCommand } from "../../ports/media/MediaMessage.ts"
import { Authority } from "../CarrierCommand.ts"

/** The fields of every command of a conference to its room: plain data, and the same however often it is sent. */
const ofRoom = {
  /** Failures name the command by this id, and a carrier takes each id once. */
  commandId: CommandId,
  conferenceId: ConferenceId
}
const ofMember = { ...ofRoom, memberId: MemberId }

/**
 * Which members a member hears, and which hear it. `none`: an ordinary member. `monitor`: it hears all, and none hears
 * it. `whisper`: it hears all, and only its targets hear it. `barge`: it hears all, and all hear it.
 */
export const SupervisorRole = Schema.Literals(["none", "monitor", "whisper", "barge"])
export type SupervisorRole = typeof SupervisorRole.Type

/**
 * A command of a conference to its room. Legs join and leave by commands of their calls (`join_room`, `leave_room`).
 */
export const RoomCommand = Schema.Union([
  /** Makes the room, beside the leg `near`; idempotent. Outcome: `live`, or `command_failed`. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("create"), tenantId: TenantId, near: LegId }),
  /** Ends the room and releases its members. Outcome: `over`, also for a room that this carrier never knew. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("end") }),
  /** Removes a member; its leg continues. Outcome: `member_left`, also for an absent member. */
  Schema.Struct({ ...ofMember, type: Schema.tag("remove") }),
  /** A muted member is not heard. Outcome: `member_muted`, or `command_failed`. */
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
  /** `targets` are the members that hear a whisper. Outcome: `member_supervises`, or `command_failed`. */
  Schema.Struct({
    ...ofMember,
    type: Schema.tag("supervise"),
    role: SupervisorRole,
    targets: Schema.Array(MemberId)
  }),
  /** All members hear a short tone, except `except` (which joins or leaves) and those on hold. It has no outcome. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("beep"), except: Schema.NullOr(MemberId) }),
  /**
   * Hands `media` to the media of the room. Its playback is heard by all members that are not on hold, or by the
   * members in `to`; its recording is of the room. Outcomes: its media events, or `command_failed`.
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

/** A room's command with its authority, as `Order` is for a leg's. */
export const RoomOrder = Schema.Struct({ authority: Authority, command: RoomCommand })
export type RoomOrder = typeof RoomOrder.Type
