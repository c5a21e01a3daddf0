import { Effect, Metric } from "effect"

/** Addresses from which calls are taken in. */
export const knownPeers = Metric.gauge("sip_known_peers", {
  description: "Addresses from which calls are taken in"
})

const refused = Metric.counter("sip_strangers_refused_total", {
  description: "Requests of strangers that were answered once, without state",
  incremental: true
})
const dropped = Metric.counter("sip_strangers_dropped_total", {
  description: "What strangers sent that got no answer: faulty, too long, or beyond the bucket of its address",
  incremental: true
})

/** Counts what a stranger sent, from plain callbacks; `isAnswered`: refused, else dropped. */
export const strangers = Effect.map(
  Effect.context(),
  (context) =>
    (isAnswered: boolean): void =>
      (isAnswered ? refused : dropped).updateUnsafe(1, context)
)
