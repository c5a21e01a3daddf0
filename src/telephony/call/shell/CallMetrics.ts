import { Metric } from "effect"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import type { Admission } from "../../../carrier/Carrier.ts"

const refusals = Metric.counter("calls_refused_total", {
  description: "Calls that were not admitted: outbound by error code, inbound by what the caller was told",
  incremental: true
})

export const outboundRefused = (code: Code) =>
  Metric.update(Metric.withAttributes(refusals, { direction: "outbound", code }), 1)

export const inboundRefused = (cause: Extract<Admission, { readonly admitted: false }>["cause"]) =>
  Metric.update(Metric.withAttributes(refusals, { direction: "inbound", code: cause }), 1)
