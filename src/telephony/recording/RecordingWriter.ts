import { Effect, Queue } from "effect"
import type { CaptureEnd, Chunk } from "../../media/capture/Capture.ts"
import type { Captured } from "../../media/capture/Captures.ts"
import type { Spool, Spooled, SpoolError, Writer } from "../../ports/storage/Spool.ts"
import * as Pcm from "./Pcm.ts"
import * as Quietness from "./Quietness.ts"

export type Heard = Chunk | CaptureEnd

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
  const quietMsAfter = silenceMs === undefined ? null : Quietness.make()
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
