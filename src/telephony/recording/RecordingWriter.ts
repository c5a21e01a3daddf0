import { Effect, Queue } from "effect"
import type { CaptureEnd, Chunk } from "../../media/capture/Capture.ts"
import type { Captured } from "../../media/capture/Captures.ts"
import type { Spool, Spooled, SpoolError, Writer } from "../../ports/storage/Spool.ts"
import * as SpeakingDetector from "../../protocol/audio/detect/SpeakingDetector.ts"
import * as Pcm from "./Pcm.ts"

export type Heard = Chunk | CaptureEnd

/** Measures for how long no track has had speech, chunk by chunk, in milliseconds. */
const quietness = () => {
  let detectors: ReadonlyArray<SpeakingDetector.SpeakingDetector> | null = null
  let quietMs = 0
  return ({ rate, tracks }: Chunk): number => {
    const frameLength = rate / 50
    detectors ??= tracks.map(() => SpeakingDetector.make())
    for (let from = 0; from + frameLength <= (tracks[0]?.length ?? 0); from += frameLength) {
      let isSpoken = false
      for (const [index, detector] of detectors.entries())
        if (tracks[index] !== undefined && detector.hear(tracks[index].subarray(from, from + frameLength)))
          isSpoken = true
      quietMs = isSpoken ? 0 : quietMs + 20
    }
    return quietMs
  }
}

/**
 * Writes captured sound to the spool until the capture ends, and returns that end. At `maxLengthMs`, to the sample, or
 * after a chunk with which `silenceMs` without speech are over, it stops the capture and runs `full`; then the
 * recording counts as stopped. Silence while `isPaused` does not count.
 */
export const write = (
  spool: Spool["Service"],
  of: Spooled,
  given: {
    readonly heard: Queue.Dequeue<Heard>
    readonly captured: Captured
    readonly maxLengthMs: number | null
    readonly silenceMs?: number
    readonly isPaused: () => boolean
    readonly full: Effect.Effect<unknown>
  }
): Effect.Effect<CaptureEnd, SpoolError> => {
  const { captured, full, heard, isPaused, maxLengthMs, silenceMs } = given
  const quietMsAfter = silenceMs === undefined ? null : quietness()
  const pack = Pcm.make(of.channels)
  let writer: Writer | null = null
  let frames = 0
  let isFull = false
  const all = Effect.gen(function* () {
    while (true) {
      const next = yield* Queue.take(heard)
      if (typeof next === "string") return isFull ? "stopped" : next
      if (isFull) continue
      const most = maxLengthMs === null ? Number.POSITIVE_INFINITY : (maxLengthMs * next.rate) / 1000
      const length = Math.min(next.tracks[0]?.length ?? 0, most - frames)
      writer ??= yield* spool.open(of, { sampleRate: next.rate, channels: of.channels === "dual" ? 2 : 1 })
      yield* writer.append(pack(next, length))
      frames += length
      captured.taken()
      const isQuiet = quietMsAfter !== null && silenceMs !== undefined && !isPaused() && quietMsAfter(next) >= silenceMs
      if (frames < most && !isQuiet) continue
      isFull = true
      captured.stop()
      yield* full
    }
  })
  return Effect.ensuring(
    all,
    Effect.suspend(() => writer?.close ?? Effect.void)
  )
}
