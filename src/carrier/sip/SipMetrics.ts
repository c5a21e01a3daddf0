import { Effect, Metric } from "effect"

/** Addresses whose calls are accepted. */
export const knownPeers = Metric.gauge("sip_known_peers", {
  description: "Addresses whose calls are accepted"
})

const refused = Metric.counter("sip_strangers_refused_total", {
  description: "Requests of strangers that were answered once, without state",
  incremental: true
})
const dropped = Metric.counter("sip_strangers_dropped_total", {
  description: "Messages of strangers that got no answer: faulty, too long, or beyond the bucket of their address",
  incremental: true
})

/** Counts a message of a stranger, from plain callbacks: as refused if `isAnswered`, else as dropped. */
export const strangers = Effect.map(
  Effect.context(),
  (context) =>
    (isAnswered: boolean): void =>
      (isAnswered ? refused : dropped).updateUnsafe(1, context)
)
