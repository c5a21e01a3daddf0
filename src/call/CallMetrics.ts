import { Effect, Metric } from "effect"
import type { Code } from "../domain/ErrorCatalogue.ts"
import type { Admission } from "../carrier/Carrier.ts"
import type { CallState } from "./CallState.ts"
import { isTerminal } from "./CallState.ts"

const ends = Metric.counter("calls_ended_total", {
  description: "Calls that ended, by direction, end_reason and end_initiator",
  incremental: true
})
const refusals = Metric.counter("calls_refused_total", {
  description: "Calls that were not admitted: outbound by error code, inbound by what the caller was told",
  incremental: true
})

/** Counts a call in the step that ends it. */
export const stepped = (before: CallState | null, { direction, endInitiator, endReason, ...state }: CallState) =>
  state.endedAt === null || (before !== null && isTerminal(before))
    ? Effect.void
    : Metric.update(
        Metric.withAttributes(ends, {
          direction,
          reason: endReason ?? "unspecified",
          initiator: endInitiator ?? "unknown"
        }),
        1
      )

export const outboundRefused = (code: Code) =>
  Metric.update(Metric.withAttributes(refusals, { direction: "outbound", code }), 1)

export const inboundRefused = (cause: Extract<Admission, { readonly admitted: false }>["cause"]) =>
  Metric.update(Metric.withAttributes(refusals, { direction: "inbound", code: cause }), 1)
