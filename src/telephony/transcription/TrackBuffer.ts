import { Effect, Latch } from "effect"
import type { Chunk } from "../../media/capture/Capture.ts"

/**
 * A buffer for the tracks of a leg, between a capture that adds sound and readers that each take one track at their own
 * pace. `taken` gets the number of chunks that all readers have taken. The capture bounds the buffer.
 */
export const make = (tracks: number, taken: (chunks: number) => void) => {
  const waiting = Array.from({ length: tracks }, (): Array<Int16Array> => [])
  const counts = Array.from({ length: tracks }, () => 0)
  const more = Latch.makeUnsafe(false)
  let told = 0
  let isOver = false

  const next = (track: number): Int16Array | null => {
    const samples = waiting[track]?.shift() ?? null
    if (samples === null) return null
    counts[track] = (counts[track] ?? 0) + 1
    const least = Math.min(...counts)
    if (least > told) taken(least - told)
    told = Math.max(told, least)
    return samples
  }

  return {
    hear: (chunk: Chunk): void => {
      chunk.tracks.forEach((samples, track) => waiting[track]?.push(samples))
      more.openUnsafe()
    },
    end: (): void => {
      isOver = true
      more.openUnsafe()
    },
    /** The next samples of a track; null: the sound is over. */
    take: (track: number): Effect.Effect<Int16Array | null> => {
      const attempt: Effect.Effect<Int16Array | null> = Effect.suspend(() => {
        const samples = next(track)
        if (samples !== null || isOver) return Effect.succeed(samples)
        more.closeUnsafe()
        return Effect.andThen(more.await, attempt)
      })
      return attempt
    }
  }
}
