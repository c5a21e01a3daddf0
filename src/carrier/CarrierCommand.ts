import { Schema } from "effect"
import { CustomHeader } from "../domain/CustomHeader.ts"
import { CallId, CommandId, ConferenceId, LegId, RouteId, TenantId } from "../domain/Id.ts"
import * as Secret from "../domain/schema/Secret.ts"
import { entry } from "../ports/media/MemberChange.ts"
import { MediaCommand } from "../ports/media/MediaMessage.ts"

/** The fields of every command of a call to a leg. A command is plain data, and the same however often it is sent. */
const ofLeg = {
  /** Outcomes name the command by this id, and a carrier takes each id once. */
  commandId: CommandId,
  callId: CallId,
  legId: LegId
}

/** Why a leg is refused or ended from our side; an adapter translates it (SIP: a status). */
export const RejectCause = Schema.Literals(["user_busy", "rejected", "no_answer", "not_found", "error"])
export type RejectCause = typeof RejectCause.Type

/** Finds a dial again whose process died, because its identity on the wire is derived from `dialId`. */
export const DialOrigin = Schema.Struct({
  dialId: CommandId,
  routeId: RouteId,
  from: Schema.String,
  to: Schema.String
})
export type DialOrigin = typeof DialOrigin.Type

/** The tenant's custom headers (`X-…`), on INVITE, its answer, or REFER. */
const headers = Schema.optionalKey(Schema.Array(CustomHeader))

export const CarrierCommand = Schema.Union([
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("dial"),
    tenantId: TenantId,
    routeId: RouteId,
    from: Schema.String,
    to: Schema.String,
    /** A leg that this one will be bridged with: their media are placed where they can be joined. */
    near: Schema.optionalKey(LegId),
    headers,
    /** The display name of the caller, for trunks; absent when there is none. */
    callerIdName: Schema.optionalKey(Schema.String),
    /**
     * A sound at an `https` URL that the callee hears before it answers, if it accepts early media. It is repeated
     * until the answer, which ends it. It causes no events.
     */
    audioUrl: Schema.optionalKey(Secret.url(Schema.String)),
    /** Machine detection begins with the answer, but it also hears the callee before that. */
    detectsMachine: Schema.optionalKey(Schema.Boolean)
  }),
  /** Answers an inbound leg. Outcome: `answered`, or `command_failed` and `ended`. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answer"), tenantId: TenantId, headers }),
  /** Alerts an inbound leg (SIP 180). It has no outcome. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("ring") }),
  /** Refuses an inbound leg. Outcome: `ended`. `resume` has the meaning that it has in `hangup`. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("reject"), cause: RejectCause, resume: Schema.Json }),
  /**
   * Ends the leg whatever its state (CANCEL, BYE, or a final answer). Outcome: exactly one `ended` in the life of a
   * leg, also for a leg that this carrier never knew: then `resume` (a dialog) or `origin` (a dial) names what to end.
   */
  Schema.Struct({ ...ofLeg, type: Schema.tag("hangup"), origin: Schema.NullOr(DialOrigin), resume: Schema.Json }),
  /**
   * Lets two answered legs of this carrier hear each other, digits included; `peerCallId` is the call of the other one.
   * Outcome: `bridged`, reported for each of the two legs to its call, or `command_failed`. A leg that is bridged
   * already leaves its bridge first.
   */
  Schema.Struct({ ...ofLeg, type: Schema.tag("bridge"), peerLegId: LegId, peerCallId: CallId }),
  /** Ends the bridge of the leg. Outcome: `unbridged`, reported for each of the two legs; none without a bridge. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("unbridge") }),
  /**
   * Brings an answered leg into the room of a conference as this member, muted or on hold from the first sound on if it
   * asks for that. Outcome: `room_joined` to the call and `member_joined` to the conference (`RoomEvent`), or
   * `command_failed`. A leg that is bridged or in another room leaves that first.
   */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("join_room"),
    conferenceId: ConferenceId,
    ...entry
  }),
  /** Takes the leg out of its room. Outcome: `room_left`; none without a room. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("leave_room") }),
  /** Asks the peer to call `to` (a SIP URI) in place of us, RFC 3515. Outcome: `referred`, or `command_failed`. */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("refer"),
    to: Schema.String,
    headers
  }),
  /** Hands `media` to the media of the leg. Outcome: its media events, or `command_failed` for a leg without media. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("media"), tenantId: TenantId, media: MediaCommand })
])
export type CarrierCommand = typeof CarrierCommand.Type

/** The owner of a partition's journal, by the epoch in which it took the partition. Only the owner may command. */
export const Authority = Schema.Struct({ partition: Schema.Int, epoch: Schema.Int })
export type Authority = typeof Authority.Type

/**
 * A command with the authority of its sender. A carrier drops it when it knows a newer owner of the partition, and when
 * it has taken this command before. So a sender that does not know whether it arrived sends it again.
 */
export const Order = Schema.Struct({ authority: Authority, command: CarrierCommand })
export type Order = typeof Order.Type
