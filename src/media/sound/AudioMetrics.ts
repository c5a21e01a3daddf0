import { Metric } from "effect"

/** The figures of fetching, decoding and playing sounds. */

/** How long pieces of sound waited until they were decoded. */
export const decodeWait = Metric.histogram("audio_decode_wait_seconds", {
  description: "From asking for two seconds of sound until they are decoded",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})
export const decodeWaiting = Metric.gauge("audio_decode_waiting", {
  description: "Pieces of sound that wait to be decoded"
})
export const decodeAge = Metric.gauge("audio_decode_oldest_seconds", {
  description: "How long the piece in turn has been waited for"
})
export const decodeOpen = Metric.gauge("audio_decode_files_open", { description: "Files that are being decoded" })
export const decodeCpu = Metric.counter("audio_decode_cpu_seconds_total", {
  description: "CPU time of the decoding threads",
  incremental: true
})
export const decoderDeaths = Metric.counter("audio_decoder_deaths_total", {
  description: "Decoding threads that died or hung, and were replaced",
  incremental: true
})

const playbacks = Metric.counter("playbacks_total", {
  description: "Playbacks that have ended, by outcome: completed, stopped, or why they failed",
  incremental: true
})
/** All reasons that servers choose (`http_404`) share one label. */
export const playbackEnded = (status: "completed" | "stopped" | "failed", reason: string | null) =>
  Metric.withAttributes(playbacks, {
    outcome: status === "failed" ? (reason?.replace(/^http_\d+$/, "http_status") ?? "failed") : status
  })

export const fetchesWaiting = Metric.gauge("audio_fetch_waiting", { description: "Sounds that wait to be fetched" })
export const fetchesRunning = Metric.gauge("audio_fetch_running", { description: "Sounds that are being fetched" })
export const shelfBytes = Metric.gauge("audio_shelf_bytes", {
  description: "Memory of the sounds that are kept, encoded and decoded"
})
