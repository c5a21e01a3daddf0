import { Schema } from "effect"
import { RejectCause } from "../../../../carrier/CarrierCommand.ts"
import { CustomHeader } from "../../../../domain/CustomHeader.ts"
import { CallId, CommandId, ConferenceId, LegId, MemberId } from "../../../../domain/Id.ts"
import * as Secret from "../../../../domain/schema/Secret.ts"
import { entry } from "../../../../ports/media/MemberChange.ts"
import { Millis } from "./Leg.ts"

/** The fields of a dial besides the numbers, as its command has them. */
export const DialOptions = Schema.Struct({
  near: Schema.optionalKey(LegId),
  headers: Schema.optionalKey(Schema.Array(CustomHeader)),
  callerIdName: Schema.optionalKey(Schema.String),
  audioUrl: Schema.optionalKey(Secret.url(Schema.String)),
  detectsMachine: Schema.optionalKey(Schema.Boolean)
})
export type DialOptions = typeof DialOptions.Type

const ofLeg = { commandId: CommandId, legId: LegId }

/**
 * A command of call control that was sent down and has no outcome yet
 * (src/telephony/README.md#commands-are-part-of-the-state).
 */
export const Pending = Schema.Union([
  Schema.Struct({ ...ofLeg, type: Schema.Literal("dial"), options: DialOptions }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("answer"),
    since: Millis,
    headers: Schema.optionalKey(Schema.Array(CustomHeader))
  }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("hangup"),
    since: Millis,
    /** The cause with which an unanswered inbound leg is rejected; null: a plain hang-up. */
    rejectCause: Schema.NullOr(RejectCause)
  }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("bridge"),
    since: Millis,
    peerLegId: LegId,
    peerCallId: CallId,
    /** The verb that requests it. `restart`: the legs were bridged, and another carrier incarnation has them now. */
    by: Schema.Literals(["transfer", "bridge", "restart"])
  }),
  Schema.Struct({ ...ofLeg, type: Schema.Literal("unbridge"), since: Millis }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("join_room"),
    since: Millis,
    conferenceId: ConferenceId,
    ...entry
  }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("leave_room"),
    since: Millis,
    conferenceId: ConferenceId,
    /** The member whose stay it ends. */
    memberId: MemberId
  }),
  Schema.Struct({
    ...ofLeg,
    type: Schema.Literal("refer"),
    since: Millis,
    to: Schema.String,
    headers: Schema.optionalKey(Schema.Array(CustomHeader)),
    /** When the peer accepted it; null: not yet. */
    acceptedAt: Schema.NullOr(Millis),
    /** When the peer was connected elsewhere, and so is about to hang up. Null: not yet. */
    completedAt: Schema.NullOr(Millis)
  })
])
export type Pending = typeof Pending.Type

export type Of<Type extends Pending["type"]> = Extract<Pending, { readonly type: Type }>
