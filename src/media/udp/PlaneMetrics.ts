import { type Context, Metric } from "effect"
import * as StreamMessages from "../../ports/media/StreamMessages.ts"
import { type Figures as StreamFigures, noFigures } from "../stream/dialect/Common.ts"
import * as PacketIo from "./packet/PacketIo.ts"
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

const packetIo = Metric.gauge("media_packet_io", {
  description: "1 for how packets of media come and go: calls of the kernel, or sockets of Node"
})
const packetErrors = Metric.counter("media_packet_errors_total", {
  description: "Datagrams of media that could not be sent, and other errors of their sockets",
  incremental: true
})

const streams = Metric.gauge("media_streams", { description: "Media streams that are connected" })
const streamsFailed = Metric.counter("media_streams_failed_total", {
  description: "Media streams that failed, by reason",
  incremental: true
})
const streamDropped = Metric.counter("media_stream_dropped_seconds_total", {
  description: "Sound of media streams that was dropped: a server was too slow, or sent more than may wait",
  incremental: true
})
const streamUnderruns = Metric.counter("media_stream_underruns_total", {
  description: "Times that the sound of a stream's server broke off in the middle of speech",
  incremental: true
})
const failures = StreamMessages.Failure.literals

const none = (): Figures => ({ legs: 0, skippedFrames: 0, playbackGaps: 0, streams: noFigures(), packetErrors: 0 })

const countStreams = (before: StreamFigures, now: StreamFigures, context: Context.Context<never>): void => {
  streams.updateUnsafe(now.open, context)
  streamDropped.updateUnsafe((now.droppedMs - before.droppedMs) / 1000, context)
  streamUnderruns.updateUnsafe(now.underruns - before.underruns, context)
  for (const reason of failures)
    Metric.withAttributes(streamsFailed, { reason }).updateUnsafe(now.failed[reason] - before.failed[reason], context)
}

/** The figures of the media thread, recorded from plain callbacks. A new thread counts from zero. */
export const make = (context: Context.Context<never>) => {
  let before = none()
  return {
    started: (io: PacketIo.PacketIo): void => {
      for (const each of PacketIo.all)
        Metric.withAttributes(packetIo, { io: each }).updateUnsafe(each === io ? 1 : 0, context)
    },
    pong: (delayMs: number, figures: Figures): void => {
      delay.updateUnsafe(delayMs / 1000, context)
      legs.updateUnsafe(figures.legs, context)
      skipped.updateUnsafe(figures.skippedFrames - before.skippedFrames, context)
      gaps.updateUnsafe(figures.playbackGaps - before.playbackGaps, context)
      packetErrors.updateUnsafe(figures.packetErrors - before.packetErrors, context)
      countStreams(before.streams, figures.streams, context)
      before = figures
    },
    died: (): void => {
      before = none()
      streams.updateUnsafe(0, context)
      legs.updateUnsafe(0, context)
      deaths.updateUnsafe(1, context)
    }
  }
}
