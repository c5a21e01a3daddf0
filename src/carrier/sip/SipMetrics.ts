import { Effect, Metric } from "effect"
import type { Counters } from "./TransactionLayer.ts"

const known = Metric.gauge("sip_known_peers", { description: "Addresses from which calls are taken in" })
const refused = Metric.counter("sip_strangers_refused_total", {
  description: "Requests of strangers that were answered once, without state",
  incremental: true
})
const dropped = Metric.counter("sip_strangers_dropped_total", {
  description: "What strangers sent that got no answer: faulty, too long, or beyond the bucket of its address",
  incremental: true
})

type Figures = Pick<Counters, "strangersRefused" | "strangersDropped"> & { readonly knownPeers: number }

/** Brings the metrics up to the figures, each time that it is run. */
export const publisher = (read: () => Figures): Effect.Effect<void> => {
  let last: Figures = { strangersRefused: 0, strangersDropped: 0, knownPeers: 0 }
  return Effect.suspend(() => {
    const before = last
    last = { ...read() }
    return Effect.all(
      [
        Metric.update(known, last.knownPeers),
        Metric.update(refused, last.strangersRefused - before.strangersRefused),
        Metric.update(dropped, last.strangersDropped - before.strangersDropped)
      ],
      { discard: true }
    )
  })
}
