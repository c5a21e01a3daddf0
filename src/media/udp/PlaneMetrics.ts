import { type Context, Metric } from "effect"
import type { Figures } from "./PlaneThread.ts"

const deaths = Metric.counter("media_thread_deaths_total", {
  description: "Times that the media thread died or hung; its calls ended, and a new one took its place",
  incremental: true
})
const delay = Metric.gauge("media_thread_delay_seconds", {
  description: "How long the media thread took to answer the last ping"
})
const legs = Metric.gauge("media_legs", { description: "Legs in the media plane" })
const skipped = Metric.counter("media_frames_skipped_total", {
  description: "Frames of 20 ms that no leg was sent because the media thread stood still",
  incremental: true
})
const gaps = Metric.counter("playback_gaps_total", {
  description: "Frames of 20 ms in which a playback waited for its next piece of sound",
  incremental: true
})

/** Figures of the media thread, from plain callbacks. A new thread counts from zero. */
export const make = (context: Context.Context<never>) => {
  let before: Figures = { legs: 0, skippedFrames: 0, playbackGaps: 0 }
  return {
    pong: (delayMs: number, figures: Figures): void => {
      delay.updateUnsafe(delayMs / 1000, context)
      legs.updateUnsafe(figures.legs, context)
      skipped.updateUnsafe(figures.skippedFrames - before.skippedFrames, context)
      gaps.updateUnsafe(figures.playbackGaps - before.playbackGaps, context)
      before = figures
    },
    died: (): void => {
      before = { legs: 0, skippedFrames: 0, playbackGaps: 0 }
      legs.updateUnsafe(0, context)
      deaths.updateUnsafe(1, context)
    }
  }
}
