import { Metric } from "effect"

export const live = Metric.gauge("recordings_live", { description: "Recordings that are being written" })
export const unstored = Metric.gauge("recordings_unstored", {
  description: "Recordings on the spool: written, encoded, or waiting for the store"
})
export const outcomes = Metric.counter("recordings_total", {
  description: "Recordings whose outcome is known, by it: stored, or why not"
})
export const cut = Metric.counter("recordings_cut_total", {
  description: "Recordings that ended before their call without being asked to, by the reason; what was there is stored"
})
export const refusals = Metric.counter("recording_store_errors_total", {
  description: "Attempts to store a recording that failed and are repeated",
  incremental: true
})
export const seconds = Metric.counter("recording_stored_seconds_total", {
  description: "Seconds of sound that were stored"
})
