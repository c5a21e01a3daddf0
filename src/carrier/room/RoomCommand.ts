import { Schema, Tuple } from "effect"
import { CommandId, ConferenceId, LegId, MemberId, TenantId } from "../../domain/Id.ts"
import { MemberChange } from "../../ports/media/MemberChange.ts"
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
 * A command of a conference to its room. Legs join and leave by commands of their calls (`join_room`, `leave_room`).
 */
export const RoomCommand = Schema.Union([
  /** Makes the room, beside the leg `near`; idempotent. Outcome: `live`, or `command_failed`. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("create"), tenantId: TenantId, near: LegId }),
  /** Ends the room and releases its members. Outcome: `over`, also for a room that this carrier never knew. */
  Schema.Struct({ ...ofRoom, type: Schema.tag("end") }),
  /** Removes a member; its leg continues. Outcome: `member_left`, also for an absent member. */
  Schema.Struct({ ...ofMember, type: Schema.tag("remove") }),
  /** Changes a member. Outcome: its `MemberChanged`, or `command_failed`. */
  ...MemberChange.mapMembers(Tuple.map(Schema.fieldsAssign(ofMember))).members,
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
