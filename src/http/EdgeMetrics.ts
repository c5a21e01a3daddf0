import { Effect, Metric } from "effect"
import type { Cut, Watch } from "./ConnectionGuard.ts"

/** What the edge says to `/metrics`. */

const open = Metric.gauge("http_connections", { description: "Open connections of the API" })
const cut = Metric.counter("http_connections_cut_total", {
  description:
    "Connections that the service ended: no room, an answer not read, a request behind its answer, pipelining",
  incremental: true
})

/** Counts connections, from plain callbacks. */
export const connections: Effect.Effect<Watch> = Effect.map(Effect.context(), (context) => ({
  opened: (count) => open.updateUnsafe(count, context),
  cut: (reason: Cut) => Metric.withAttributes(cut, { reason }).updateUnsafe(1, context)
}))
