import { Metric } from "effect"

/** The metrics of transcription. */

export const live = Metric.gauge("transcriptions_live", { description: "Transcriptions of calls that go on" })

export const outcomes = Metric.counter("transcriptions_total", {
  description: "Transcriptions of calls that have ended, by outcome: completed, or why they failed",
  incremental: true
})

export const phrases = Metric.counter("transcript_phrases_total", {
  description: "Phrases that were recognized and told",
  incremental: true
})
