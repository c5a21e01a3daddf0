import type { Frame } from "./Frame.ts"
import type { MediaEvent } from "./message/MediaMessage.ts"
import type { PlaybackFailure } from "./Protocol.ts"

interface Playback {
  readonly id: string
  loopsLeft: number
  /** `null` while the sound is being fetched. */
  samples: Int16Array | null
  position: number
}

/** Playbacks that may wait on one leg, the present one included. */
export const maxPlaybacks = 32

export type Player = ReturnType<typeof make>

/**
 * The queue of sounds that are played to one leg, one after the other.
 *
 * A playback keeps its place while its sound is fetched; those behind it wait. Every playback ends with exactly one
 * `ended`; past `maxPlaybacks` at once, as `failed`.
 */
export const make = (emit: (event: MediaEvent) => void) => {
  let queue: Array<Playback> = []

  const ended = (id: string, status: "completed" | "stopped" | "failed", reason: PlaybackFailure | null = null) =>
    emit({ type: "ended", id, status, reason })

  const remove = (playback: Playback) => {
    queue = queue.filter((other) => other !== playback)
  }

  const fail = (id: string, reason: PlaybackFailure) => {
    const playback = queue.find((waiting) => waiting.id === id && waiting.samples === null)
    if (playback === undefined) return
    remove(playback)
    ended(id, "failed", reason)
  }

  return {
    /** `loop` is how often the sound is heard in all; less than once is once. */
    play: (id: string, loop: number): void => {
      if (queue.length >= maxPlaybacks) return ended(id, "failed", "too_many_playbacks")
      queue.push({ id, loopsLeft: Math.max(1, Math.floor(loop)), samples: null, position: 0 })
    },
    /** The sound of a playback that waits for it; ignored when it no longer does. */
    supply: (id: string, samples: Int16Array): void => {
      if (samples.length === 0) return fail(id, "empty")
      const playback = queue.find((waiting) => waiting.id === id && waiting.samples === null)
      if (playback !== undefined) playback.samples = samples
    },
    fail,
    stop: (which: "current" | "all"): void => {
      const stopped = which === "all" ? queue : queue.slice(0, 1)
      queue = which === "all" ? [] : queue.slice(1)
      for (const { id } of stopped) ended(id, "stopped")
    },
    /** Writes the next 20 ms into `out`, silence when there is nothing to play. */
    render: (out: Frame): void => {
      out.fill(0)
      const last = queue[0]
      if (last?.loopsLeft === 0) {
        // Told a frame late: now its last sample was sent.
        remove(last)
        ended(last.id, "completed")
      }
      const playback = queue[0]
      if (playback === undefined || playback.samples === null) return
      const { samples } = playback
      for (let at = 0; at < out.length && playback.loopsLeft > 0;) {
        const piece = samples.subarray(playback.position, playback.position + out.length - at)
        out.set(piece, at)
        at += piece.length
        playback.position += piece.length
        if (playback.position < samples.length) continue
        playback.position = 0
        playback.loopsLeft--
      }
    }
  }
}
