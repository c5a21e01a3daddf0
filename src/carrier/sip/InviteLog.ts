/**
 * Logs a line for each INVITE of a known peer that is refused before it becomes a call (guide/sip.md#refusals), and
 * counts them by status. A peer that floods us gets a line a second for each status, with the number of INVITEs.
 */
import { Clock, Effect, FiberSet, Metric } from "effect"
import type { LegId } from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { header, type SipRequest } from "../../protocol/sip/message/SipMessage.ts"
import type { Admission } from "../Carrier.ts"
import * as SecurityLog from "./ingress/SecurityLog.ts"
import * as InviteIdentity from "./leg/inbound/InviteIdentity.ts"

const refusals = Metric.counter("sip_invites_refused_total", {
  description: "INVITEs of known peers that were refused before they became calls, by status",
  incremental: true
})

export interface Refused {
  readonly invite: SipRequest
  /** The address of the peer. */
  readonly source: string
  readonly status: number
  readonly why: string
  /** Null when the INVITE came to no leg. */
  readonly legId: LegId | null
  /** The tenant and route that were called, as far as the sink knew. */
  readonly of: Extract<Admission, { readonly admitted: false }>["of"] | null
}

/** Keeps only the characters of a peer's text that are harmless in a log, at most 128. */
const harmless = (text: string | null): string =>
  text !== null && /^[A-Za-z0-9+*#._@:;-]{1,128}$/.test(text) ? text : "none"

export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const context = yield* Effect.context()
  const log = SecurityLog.make()
  return ({ invite, legId, of, source, status, why }: Refused): void => {
    Metric.withAttributes(refusals, { status: String(status) }).updateUnsafe(1, context)
    const messages = log.note(`${source} ${status}`, Monotonic.read(clock))
    if (messages === null) return
    const line = Effect.annotateLogs(Effect.logInfo("SIP INVITE refused"), {
      source,
      status,
      why,
      from: harmless(InviteIdentity.caller(invite)),
      to: InviteIdentity.called(invite) ?? "none",
      call_id: harmless(header(invite, "Call-ID")),
      leg: legId ?? "none",
      tenant: of?.tenantId ?? "none",
      route: of?.routeId ?? "none",
      messages
    })
    void fork(line)
  }
})
