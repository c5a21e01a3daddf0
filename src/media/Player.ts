import type { WorkId } from "../domain/Id.ts"
import * as Frame from "./Frame.ts"
import type { MediaEvent } from "./message/MediaMessage.ts"
import type { PlaybackFailure } from "./Protocol.ts"
import * as RateConverter from "./RateConverter.ts"

interface Playback {
  readonly id: WorkId
  loopsLeft: number
  /** `null` while the sound is being fetched. */
  sound: Frame.Sound | null
  position: number
}

/** Playbacks that may wait on one leg, the present one included. */
export const maxPlaybacks = 32

export type Player = ReturnType<typeof make>

/**
 * The queue of sounds that are played to one leg, one after the other, each brought to the rate of the leg.
 *
 * A playback keeps its place while its sound is fetched; those behind it wait. Every playback ends with exactly one
 * `ended`; past `maxPlaybacks` at once, as `failed`.
 */
export const make = (emit: (event: MediaEvent) => void) => {
  let queue: Array<Playback> = []
  const converter = RateConverter.make()
  /** What is played at another rate than the leg's, and whether the last frame was. */
  let source = Frame.make(8000)
  let isFiltered = false

  const ended = (id: WorkId, status: "completed" | "stopped" | "failed", reason: PlaybackFailure | null = null) =>
    emit({ type: "ended", id, status, reason })

  const remove = (playback: Playback) => {
    queue = queue.filter((other) => other !== playback)
  }

  const fail = (id: WorkId, reason: PlaybackFailure) => {
    const playback = queue.find((waiting) => waiting.id === id && waiting.sound === null)
    if (playback === undefined) return
    remove(playback)
    ended(id, "failed", reason)
  }

  const stop = (which: "current" | "all"): void => {
    const stopped = which === "all" ? queue : queue.slice(0, 1)
    queue = which === "all" ? [] : queue.slice(1)
    for (const { id } of stopped) ended(id, "stopped")
  }

  /** The next 20 ms of a playback at the rate of its sound, padded with silence behind the last. */
  const take = (playback: Playback, { samples }: Frame.Sound, out: Frame.Frame): void => {
    const into = out.samples
    let at = 0
    while (at < into.length && playback.loopsLeft > 0) {
      const piece = samples.subarray(playback.position, playback.position + into.length - at)
      into.set(piece, at)
      at += piece.length
      playback.position += piece.length
      if (playback.position < samples.length) continue
      playback.position = 0
      playback.loopsLeft--
    }
    into.fill(0, at)
  }

  /** The filter still holds the last milliseconds of a sound that has ended. */
  const silence = (out: Frame.Frame): void => {
    if (!isFiltered) return void out.samples.fill(0)
    source.samples.fill(0)
    converter.convert(source, out)
    isFiltered = false
  }

  return {
    /** `loop` is how often the sound is heard in all; less than once is once. */
    play: (id: WorkId, loop: number): void => {
      if (queue.length >= maxPlaybacks) return ended(id, "failed", "too_many_playbacks")
      queue.push({ id, loopsLeft: Math.max(1, Math.floor(loop)), sound: null, position: 0 })
    },
    /** The sound of a playback that waits for it; ignored when it no longer does. */
    supply: (id: WorkId, sound: Frame.Sound): void => {
      if (sound.samples.length === 0) return fail(id, "empty")
      const playback = queue.find((waiting) => waiting.id === id && waiting.sound === null)
      if (playback !== undefined) playback.sound = sound
    },
    fail,
    stop,
    /** Writes the next 20 ms into `out`, silence when there is nothing to play. */
    render: (out: Frame.Frame): void => {
      const last = queue[0]
      if (last?.loopsLeft === 0) {
        // Told a frame late: now its last sample was sent.
        remove(last)
        ended(last.id, "completed")
      }
      const playback = queue[0]
      const sound = playback?.sound ?? null
      if (playback === undefined || sound === null) return silence(out)
      if (sound.rate === out.rate) {
        isFiltered = false
        return take(playback, sound, out)
      }
      source = Frame.at(sound.rate, source)
      take(playback, sound, source)
      converter.convert(source, out)
      isFiltered = true
    },
    close: (): void => {
      stop("all")
      converter.free()
    }
  }
}
