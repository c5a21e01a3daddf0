import { Effect, Metric } from "effect"
import type { Sighting } from "./ingress/IngressPipeline.ts"

/** The number of addresses whose calls are accepted. */
export const knownPeers = Metric.gauge("sip_known_peers", {
  description: "Addresses whose calls are accepted"
})

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

const refused = counter("sip_strangers_refused_total", "Requests of strangers that were answered once, without state")
const dropped = counter(
  "sip_strangers_dropped_total",
  "Messages of strangers that got no answer: unread, faulty, or beyond the bucket of their source"
)
const unread = counter("sip_strangers_unread_total", "Messages of strangers that were not even parsed, by reason")
const requests = counter("sip_stranger_requests_total", "Requests of strangers that were read, by method")
const peerFlood = counter(
  "sip_peer_messages_dropped_total",
  "Messages of known peers beyond what is read of one address"
)
const banned = counter("sip_bans_total", "Sources that were banned because they were loud")

/** The methods that strangers use. Any other counts as `other`, so that strangers cannot make new series. */
const methods = new Set(["INVITE", "REGISTER", "OPTIONS", "ACK", "BYE", "CANCEL", "SUBSCRIBE", "MESSAGE", "NOTIFY"])

export const methodOf = (method: string): string => (methods.has(method) ? method : "other")

/** Counts from plain callbacks. */
export const strangers = Effect.map(Effect.context(), (context) => ({
  sighted: (sighting: Sighting): void => {
    if (sighting.type === "unread" && sighting.why === "peer flood") return peerFlood.updateUnsafe(1, context)
    const isAnswered = sighting.type === "refused" && sighting.status !== null
    ;(isAnswered ? refused : dropped).updateUnsafe(1, context)
    if (sighting.type === "unread") Metric.withAttributes(unread, { reason: sighting.why }).updateUnsafe(1, context)
    else if (sighting.request !== null)
      Metric.withAttributes(requests, { method: methodOf(sighting.request.method) }).updateUnsafe(1, context)
  },
  banned: (): void => banned.updateUnsafe(1, context)
}))
