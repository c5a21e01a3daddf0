import { Schema } from "effect"
import { CustomHeader } from "../domain/CustomHeader.ts"
import { CallId, CommandId, ConferenceId, LegId, MemberId, RouteId, TenantId } from "../domain/Id.ts"
import * as Secret from "../domain/schema/Secret.ts"
import { MediaCommand } from "../ports/media/MediaMessage.ts"

/** Every command of a call to a leg has these: plain data, and the same command however often it is sent. */
const ofLeg = {
  /** Identity of this command. Outcomes name it, and a carrier takes it once. */
  commandId: CommandId,
  callId: CallId,
  legId: LegId
}

/** Why a leg is refused or ended from our side; an adapter turns it into its own words (SIP: a status). */
export const RejectCause = Schema.Literals(["user_busy", "rejected", "no_answer", "not_found", "error"])
export type RejectCause = typeof RejectCause.Type

/** Finds a dial again whose process died: its identity on the wire is derived from `dialId`. */
export const DialOrigin = Schema.Struct({
  dialId: CommandId,
  routeId: RouteId,
  from: Schema.String,
  to: Schema.String
})
export type DialOrigin = typeof DialOrigin.Type

/** The tenant's own headers (`X-…`), on INVITE, its answer, or REFER. */
const headers = Schema.optionalKey(Schema.Array(CustomHeader))

export const CarrierCommand = Schema.Union([
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("dial"),
    tenantId: TenantId,
    routeId: RouteId,
    from: Schema.String,
    to: Schema.String,
    /** A leg that this one will be bridged with: their media are placed where they can meet. */
    near: Schema.optionalKey(LegId),
    headers,
    /** The display name of the caller, towards trunks; absent: none. */
    callerIdName: Schema.optionalKey(Schema.String),
    /**
     * A sound at an `https` URL that the callee hears before it answers, where it takes early media. It is repeated
     * until the answer, which ends it. Nothing is told of it.
     */
    audioUrl: Schema.optionalKey(Secret.url(Schema.String)),
    /** Machine detection begins with the answer: what the callee says before is listened to. */
    detectsMachine: Schema.optionalKey(Schema.Boolean)
  }),
  /** Answers an inbound leg; outcome: `answered`, or `command_failed` and `ended`. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answer"), tenantId: TenantId, headers }),
  /** Alerts an inbound leg (SIP 180); no outcome. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("ring") }),
  /** Refuses an inbound leg; outcome: `ended`. `resume` as in `hangup`. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("reject"), cause: RejectCause, resume: Schema.Json }),
  /**
   * Ends the leg whatever its state (CANCEL, BYE, or a final answer); outcome: exactly one `ended` in the life of a
   * leg, also of one that this carrier never knew: then `resume` (a dialog) or `origin` (a dial) says what to end.
   */
  Schema.Struct({ ...ofLeg, type: Schema.tag("hangup"), origin: Schema.NullOr(DialOrigin), resume: Schema.Json }),
  /**
   * Lets two answered legs of this carrier hear each other, digits included; `peerCallId` is the call of the other one.
   * Outcome: `bridged`, told of each of the two legs to its call, or `command_failed`. A leg that is bridged already
   * leaves its bridge first.
   */
  Schema.Struct({ ...ofLeg, type: Schema.tag("bridge"), peerLegId: LegId, peerCallId: CallId }),
  /** Ends the bridge of the leg; outcome: `unbridged`, told of each of the two legs. Without a bridge: nothing. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("unbridge") }),
  /**
   * Brings an answered leg into the room of a conference, as this member: muted or on hold from the first sound on, where
   * that is said. Outcome: `room_joined`, told to the call, and `member_joined`, told to the conference (`RoomEvent`); or
   * `command_failed`. A leg that is bridged or in another room leaves that first.
   */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("join_room"),
    conferenceId: ConferenceId,
    memberId: MemberId,
    /** Of the conference's host: it has a channel of its own in recordings. */
    isHost: Schema.Boolean,
    isMuted: Schema.Boolean,
    isHeld: Schema.Boolean
  }),
  /** Takes the leg out of its room; outcome: `room_left`. Without a room: nothing. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("leave_room") }),
  /** Asks the peer to call `to` (a SIP URI) in place of us, RFC 3515; outcome: `referred`, or `command_failed`. */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("refer"),
    to: Schema.String,
    headers
  }),
  /** Hands `media` to the media of the leg. Outcomes: its media events, or `command_failed` for a leg without media. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("media"), tenantId: TenantId, media: MediaCommand })
])
export type CarrierCommand = typeof CarrierCommand.Type

/** The owner of a partition's journal, by the epoch in which it took the partition. Only the owner may command. */
export const Authority = Schema.Struct({ partition: Schema.Int, epoch: Schema.Int })
export type Authority = typeof Authority.Type

/**
 * A command with the authority of its sender. A carrier drops it when it has heard from a newer owner of the partition,
 * and when it has taken this command before. So a sender that does not know whether it arrived sends it again.
 */
export const Order = Schema.Struct({ authority: Authority, command: CarrierCommand })
export type Order = typeof Order.Type
