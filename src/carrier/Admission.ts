import { Schema } from "effect"
import { CustomHeader } from "../domain/CustomHeader.ts"
import { CallId, LegId, RouteId, TenantId } from "../domain/Id.ts"
import { CallIdentity } from "./number/CallIdentity.ts"
import { TrunkNumberPlan } from "./number/TrunkNumberPlan.ts"
import { RejectCause } from "./CarrierCommand.ts"

/** An inbound leg that waits for admission. `resume` must suffice to refuse it after a restart. */
export const InboundOffer = Schema.Struct({
  legId: LegId,
  at: Schema.Number,
  adapter: Schema.String,
  incarnation: Schema.String,
  /** The address of the known peer that sent it; null when the adapter has only one peer. */
  source: Schema.NullOr(Schema.String),
  /** The numbers as they read without a number plan, in E.164 where they can be. */
  from: Schema.String,
  to: Schema.String,
  /** The parties in the words of the peer, which the number plan of its trunk reads; absent: the numbers are E.164. */
  identity: Schema.optionalKey(CallIdentity),
  resume: Schema.Json,
  /** The custom headers (`X-…`) of the peer's INVITE; absent when it has none. */
  headers: Schema.optionalKey(Schema.Array(CustomHeader))
})
export type InboundOffer = typeof InboundOffer.Type

export const Admission = Schema.Union([
  /** `routeId` names the trunk whose password answers the peer's challenges; null when the call's route is gone. */
  Schema.Struct({ admitted: Schema.tag(true), callId: CallId, routeId: Schema.NullOr(RouteId) }),
  Schema.Struct({
    admitted: Schema.tag(false),
    cause: Schema.Literals([...RejectCause.literals, "unavailable"]),
    /** The tenant and route that were called and the reason of the refusal, for the operator's log. */
    of: Schema.optionalKey(Schema.Struct({ tenantId: TenantId, routeId: Schema.NullOr(RouteId), why: Schema.String }))
  })
])
export type Admission = typeof Admission.Type

/** The SIP peer of a route. */
export const SipTrunk = Schema.Struct({
  routeId: RouteId,
  /** An IP literal without brackets, or a name. */
  host: Schema.String,
  port: Schema.Int,
  /** The value of the `transport` parameter of a SIP URI, RFC 3261 section 19.1.1. */
  transport: Schema.Literals(["udp", "tcp", "tls"]),
  username: Schema.NullOr(Schema.String),
  password: Schema.NullOr(Schema.String),
  /** How it writes numbers; absent: `TrunkNumberPlan.none`. */
  numbers: Schema.optionalKey(TrunkNumberPlan)
})
export type SipTrunk = typeof SipTrunk.Type
