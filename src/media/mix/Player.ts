import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { Playable } from "../../ports/media/Playback.ts"
import type { PlaybackFailure } from "../plane/Protocol.ts"
import * as PlaybackQueue from "./PlaybackQueue.ts"
import * as RateConverter from "./RateConverter.ts"
import type { Source } from "./Source.ts"

/** Playbacks that may wait on one leg for each leg that is asked for them, the present one included. */
export const maxPlaybacks = 32

interface Options {
  /** How often the sound is heard in all; less than once is once. */
  readonly loop?: number
  /** Digits of the far end that stop it. */
  readonly stoppedBy?: string
  /** Without one, the leg that plays it. */
  readonly asker?: PlaybackQueue.Asker
}

export interface Player extends Source {
  /** Queues a sound. */
  readonly play: (id: WorkId, sound: Playable, options?: Options) => void
  /** The next piece of a sound that was asked for; ignored when its playback has ended. */
  readonly supply: (id: WorkId, sound: Frame.Sound, isLast: boolean) => void
  readonly fail: (id: WorkId, reason: PlaybackFailure) => void
  /** Ends all, or all that `by` was asked for. `reason`: why, where nobody asked for that. */
  readonly stop: (by: PlaybackQueue.Asker | null, reason?: "unbridged" | "member_left") => void
  /** The playback whose turn it is, if `by` was asked for it. */
  readonly current: (by: PlaybackQueue.Asker) => WorkId | null
  /** Ends this playback, wherever it stands; ignored when it has ended. */
  readonly stopOne: (id: WorkId) => void
  /** The far end pressed a digit. */
  readonly digit: (digit: string) => void
  /** Frames in which a sound broke off because its next piece was not there. */
  readonly gaps: () => number
}

/** Asks for the next piece of the sound of a playback; it is answered by `supply` or `fail`. */
export type Want = (playback: Pick<PlaybackQueue.Playback, "id" | "sound">) => void

/**
 * The queue of sounds that are played to one leg, one after the other, each brought to the rate of the leg.
 *
 * A playback keeps its place while its sound is fetched; those behind it wait. Sound is asked for piece by piece, as it
 * is heard: what waits far behind holds none. Of every playback its asker hears exactly one end; past `maxPlaybacks` of
 * one asker at once, as `failed`. `unwant`: one that another leg was asked for has ended. Each begins and ends, also when it is stopped or its next piece is late, in a raised cosine of 5 ms; a
 * loop has no seam.
 */
export const make = (own: PlaybackQueue.Asker, want: Want, unwant: (id: WorkId) => void): Player => {
  const queue = PlaybackQueue.make(want)
  const converter = RateConverter.make()
  /** What is played at another rate than the leg's, and whether the last frame was. */
  let source = Frame.make(8000)
  let isFiltered = false
  let out = Frame.make(8000)
  /** A playback that was stopped while it was heard. The next frame fades it out. */
  let stopped: PlaybackQueue.Playback | null = null
  /** The playback of the last frame. */
  let heard: PlaybackQueue.Playback | null = null
  /** The last sample of the last frame. */
  let last = 0
  let gaps = 0

  const tell = ({ asker, id }: PlaybackQueue.Playback, end: Parameters<PlaybackQueue.Asker["ended"]>[1]): void => {
    if (asker !== own) unwant(id)
    asker.ended(id, end)
  }

  const end = (
    playback: PlaybackQueue.Playback,
    status: "stopped" | "failed",
    reason: PlaybackFailure | null = null
  ) => {
    if (heard === playback) stopped = playback
    queue.remove(playback)
    tell(playback, { status, reason })
    queue.ask()
  }

  const fail = (id: WorkId, reason: PlaybackFailure) => {
    const playback = queue.find(id)
    if (playback !== null) end(playback, "failed", reason)
  }

  const stop: Player["stop"] = (by, reason) => {
    const gone = queue.take(by)
    if (heard !== null && gone.includes(heard)) stopped = heard
    for (const playback of gone) tell(playback, { status: "stopped", reason: reason ?? null })
    queue.ask()
  }

  /** Up to `wanted` samples of a playback at the rate of its sound; the rest of `into` is silence. */
  const take = (playback: PlaybackQueue.Playback, rate: SampleRate, into: Int16Array, wanted: number): void => {
    let at = 0
    while (at < wanted && playback.loopsLeft > 0) {
      const [piece] = playback.pieces
      if (piece === undefined) break
      const { isLast, samples } = piece
      const from = playback.position
      const count = Math.min(samples.length - from, wanted - at)
      for (let i = 0; i < count; i++) into[at + i] = samples[from + i] ?? 0
      Ramp.fadeIn(into, rate, playback.since, at, at + count)
      if (isLast && playback.loopsLeft === 1) Ramp.fadeOut(into, rate, samples.length - from, at, at + count)
      at += count
      queue.advance(playback, piece, count)
    }
    if (at < wanted && playback.loopsLeft > 0) {
      gaps++
      at = breakOff(playback, rate, into, at, wanted)
    }
    into.fill(0, at)
    last = into[wanted - 1] ?? 0
  }

  /**
   * Lets a sound of which no more than `at` samples are here come to rest: over its end, or where too little of that is
   * left, over as long a stretch behind it.
   */
  const breakOff = (
    playback: PlaybackQueue.Playback,
    rate: SampleRate,
    into: Int16Array,
    at: number,
    wanted: number
  ): number => {
    const { since } = playback
    playback.since = 0
    const length = Ramp.lengthAt(rate)
    if (since === 0 || at >= length) {
      Ramp.fadeOut(into, rate, at, 0, at)
      return at
    }
    const end = Math.min(at + length, wanted)
    into.fill(at > 0 ? (into[at - 1] ?? 0) : last, at, end)
    Ramp.fadeOut(into, rate, end - at, at, end)
    return end
  }

  /** The next frame of a playback at the rate of the leg. */
  const render = (
    playback: PlaybackQueue.Playback,
    soundRate: SampleRate,
    rate: SampleRate,
    wanted: number
  ): Frame.Frame => {
    out = Frame.at(rate, out)
    isFiltered = soundRate !== rate
    if (!isFiltered) {
      take(playback, rate, out.samples, wanted)
      return out
    }
    source = Frame.at(soundRate, source)
    take(playback, soundRate, source.samples, (wanted * soundRate) / rate)
    converter.convert(source, out)
    return out
  }

  /** The end of a playback that was stopped: its last 5 ms, as if the sound ended with them. */
  const fade = (gone: PlaybackQueue.Playback, rate: SampleRate): Frame.Frame | null => {
    if (gone.rate === null || gone.pieces.length === 0 || gone.loopsLeft === 0) return null
    const wanted = Ramp.lengthAt(rate)
    const frame = render(gone, gone.rate, rate, wanted)
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
    play: (id, sound, { asker = own, loop = 1, stoppedBy = "" } = {}) => {
      if (queue.size(asker) >= maxPlaybacks) return asker.ended(id, { status: "failed", reason: "too_many_playbacks" })
      queue.add({ id, sound, asker, loops: Math.max(1, Math.floor(loop)), stoppedBy })
      queue.ask()
    },
    supply: (id, { rate, samples }, isLast) => {
      if (samples.length === 0) return fail(id, "empty")
      queue.supply(id, rate, { samples, isLast })
      queue.ask()
    },
    fail,
    stop,
    current: (by) => {
      const first = queue.first()
      return first?.asker === by ? first.id : null
    },
    stopOne: (id) => {
      const playback = queue.find(id)
      if (playback !== null) end(playback, "stopped")
    },
    digit: (digit) => {
      for (const playback of queue.stoppedBy(digit)) end(playback, "stopped")
    },
    next: (rate, wanted) => {
      const gone = stopped
      stopped = null
      heard = null
      if (gone !== null) {
        const faded = fade(gone, rate)
        if (faded !== null) return faded
      }
      const first = queue.first()
      if (first?.loopsLeft === 0) {
        // The end is told one frame late, because its last sample is sent only now.
        queue.remove(first)
        tell(first, { status: "completed", reason: null })
      }
      queue.ask()
      const playback = queue.first()
      if (playback === null || playback.rate === null || !isAudible(playback)) return silence(rate)
      heard = playback
      return render(playback, playback.rate, rate, wanted)
    },
    pass: () => {
      stopped = null
      heard = null
    },
    ready: () => {
      const playback = queue.first()
      return stopped !== null || (playback !== null && (isAudible(playback) || playback.loopsLeft === 0))
    },
    gaps: () => gaps,
    close: () => {
      stop(null)
      converter.free()
    }
  }
}

/** Whether something of it is here, or it comes to rest because nothing more is. */
const isAudible = ({ pieces, since }: PlaybackQueue.Playback): boolean => pieces.length > 0 || since > 0
