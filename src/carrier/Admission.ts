import { Schema } from "effect"
import { CustomHeader } from "../domain/CustomHeader.ts"
import { CallId, LegId, RouteId, TenantId } from "../domain/Id.ts"
import { RejectCause } from "./CarrierCommand.ts"

/** An inbound leg that waits for admission. `resume` must suffice to refuse it after a restart. */
export const InboundOffer = Schema.Struct({
  legId: LegId,
  at: Schema.Number,
  adapter: Schema.String,
  incarnation: Schema.String,
  /** Address of the known peer that sent it; null where the adapter has only one peer. */
  source: Schema.NullOr(Schema.String),
  from: Schema.String,
  to: Schema.String,
  resume: Schema.Json,
  /** The headers of the peer's own (`X-…`) that its INVITE has; absent: none. */
  headers: Schema.optionalKey(Schema.Array(CustomHeader))
})
export type InboundOffer = typeof InboundOffer.Type

export const Admission = Schema.Union([
  /** `routeId` names the trunk whose password answers the peer's challenges; null when the call's route is gone. */
  Schema.Struct({ admitted: Schema.tag(true), callId: CallId, routeId: Schema.NullOr(RouteId) }),
  Schema.Struct({
    admitted: Schema.tag(false),
    cause: Schema.Literals([...RejectCause.literals, "unavailable"]),
    /** Whom it called and why it is refused, for the operator's log. */
    of: Schema.optionalKey(Schema.Struct({ tenantId: TenantId, routeId: Schema.NullOr(RouteId), why: Schema.String }))
  })
])
export type Admission = typeof Admission.Type

/** A SIP peer that a route stands for. */
export const SipTrunk = Schema.Struct({
  routeId: RouteId,
  /** An IP literal without brackets, or a name. */
  host: Schema.String,
  port: Schema.Int,
  /** As the `transport` parameter of a SIP URI has it, RFC 3261 section 19.1.1. */
  transport: Schema.Literals(["udp", "tcp", "tls"]),
  username: Schema.NullOr(Schema.String),
  password: Schema.NullOr(Schema.String)
})
export type SipTrunk = typeof SipTrunk.Type
