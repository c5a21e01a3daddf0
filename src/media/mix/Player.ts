import * as Ramp from "../../audio/Ramp.ts"
import type { SampleRate } from "../../audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { MediaEvent } from "../message/MediaMessage.ts"
import type { PlaybackFailure } from "../Protocol.ts"
import * as RateConverter from "./RateConverter.ts"
import type { Source } from "./Source.ts"

interface Playback {
  readonly id: WorkId
  readonly loops: number
  loopsLeft: number
  /** Null while the sound is being fetched. */
  sound: Frame.Sound | null
  position: number
}

/** Playbacks that may wait on one leg, the present one included. */
export const maxPlaybacks = 32

export interface Player extends Source {
  /** `loop` is how often the sound is heard in all; less than once is once. */
  readonly play: (id: WorkId, loop: number) => void
  /** The sound of a playback that waits for it; ignored when it no longer does. */
  readonly supply: (id: WorkId, sound: Frame.Sound) => void
  readonly fail: (id: WorkId, reason: PlaybackFailure) => void
  readonly stop: (which: "current" | "all") => void
}

/**
 * The queue of sounds that are played to one leg, one after the other, each brought to the rate of the leg.
 *
 * A playback keeps its place while its sound is fetched; those behind it wait. Every playback ends with exactly one
 * `ended`; past `maxPlaybacks` at once, as `failed`. Each begins and ends, also when it is stopped, in a raised cosine
 * of 5 ms; a loop has no seam.
 */
export const make = (emit: (event: MediaEvent) => void): Player => {
  let queue: Array<Playback> = []
  const converter = RateConverter.make()
  /** What is played at another rate than the leg's, and whether the last frame was. */
  let source = Frame.make(8000)
  let isFiltered = false
  let out = Frame.make(8000)
  /** A playback that was stopped while it was heard. The next frame fades it out. */
  let stopped: Playback | null = null
  /** The playback of the last frame. */
  let heard: Playback | null = null

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
    const gone = which === "all" ? queue : queue.slice(0, 1)
    queue = which === "all" ? [] : queue.slice(1)
    stopped = heard
    for (const { id } of gone) ended(id, "stopped")
  }

  /** Up to `wanted` samples of a playback at the rate of its sound; the rest of `into` is silence. */
  const take = (playback: Playback, { rate, samples }: Frame.Sound, into: Int16Array, wanted: number): void => {
    let at = 0
    while (at < wanted && playback.loopsLeft > 0) {
      const from = playback.position
      const count = Math.min(samples.length - from, wanted - at)
      for (let i = 0; i < count; i++) into[at + i] = samples[from + i] ?? 0
      if (playback.loopsLeft === playback.loops) Ramp.fadeIn(into, rate, from, at, at + count)
      if (playback.loopsLeft === 1) Ramp.fadeOut(into, rate, samples.length - from, at, at + count)
      at += count
      playback.position += count
      if (playback.position < samples.length) continue
      playback.position = 0
      playback.loopsLeft--
    }
    into.fill(0, at)
  }

  /** The next frame of a playback at the rate of the leg. */
  const render = (playback: Playback, sound: Frame.Sound, rate: SampleRate, wanted: number): Frame.Frame => {
    out = Frame.at(rate, out)
    isFiltered = sound.rate !== rate
    if (!isFiltered) {
      take(playback, sound, out.samples, wanted)
      return out
    }
    source = Frame.at(sound.rate, source)
    take(playback, sound, source.samples, (wanted * sound.rate) / rate)
    converter.convert(source, out)
    return out
  }

  /** The end of a playback that was stopped: its last 5 ms, as if the sound ended with them. */
  const fade = (gone: Playback, rate: SampleRate): Frame.Frame | null => {
    if (gone.sound === null || gone.loopsLeft === 0) return null
    const wanted = Ramp.lengthAt(rate)
    const frame = render(gone, gone.sound, rate, wanted)
    Ramp.fadeOut(frame.samples, rate, wanted, 0, wanted)
    frame.samples.fill(0, wanted)
    return frame
  }

  /** The filter still holds the last milliseconds of a sound that has ended. */
  const silence = (rate: SampleRate): Frame.Frame | null => {
    if (!isFiltered) return null
    out = Frame.at(rate, out)
    source.samples.fill(0)
    converter.convert(source, out)
    isFiltered = false
    return out
  }

  return {
    play: (id, loop) => {
      if (queue.length >= maxPlaybacks) return ended(id, "failed", "too_many_playbacks")
      const loops = Math.max(1, Math.floor(loop))
      queue.push({ id, loops, loopsLeft: loops, sound: null, position: 0 })
    },
    supply: (id, sound) => {
      if (sound.samples.length === 0) return fail(id, "empty")
      const playback = queue.find((waiting) => waiting.id === id && waiting.sound === null)
      if (playback !== undefined) playback.sound = sound
    },
    fail,
    stop,
    next: (rate, wanted) => {
      const gone = stopped
      stopped = null
      heard = null
      if (gone !== null) {
        const faded = fade(gone, rate)
        if (faded !== null) return faded
      }
      const last = queue[0]
      if (last?.loopsLeft === 0) {
        // The end is told one frame late, because its last sample is sent only now.
        remove(last)
        ended(last.id, "completed")
      }
      const playback = queue[0]
      const sound = playback?.sound ?? null
      if (playback === undefined || sound === null) return silence(rate)
      heard = playback
      return render(playback, sound, rate, wanted)
    },
    pass: () => {
      stopped = null
      heard = null
    },
    ready: () => stopped !== null || (queue[0]?.sound ?? null) !== null,
    close: () => {
      stop("all")
      converter.free()
    }
  }
}
