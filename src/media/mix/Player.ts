import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { Playable } from "../../ports/media/PlaybackMessages.ts"
import type { PlaybackFailure } from "../plane/Protocol.ts"
import * as PlaybackQueue from "./PlaybackQueue.ts"
import * as RateConverter from "./RateConverter.ts"
import type { Source } from "./Source.ts"

/** The most playbacks that may wait on one leg for one asker, the present one included. */
export const maxPlaybacks = 32

interface Options {
  /** How often the sound is heard in all; values below 1 count as 1. */
  readonly loop?: number
  /** Digits of the far end that stop it. */
  readonly stoppedBy?: string
  /** The default is the leg that plays it. */
  readonly asker?: PlaybackQueue.Asker
}

export interface Player extends Source {
  readonly play: (id: WorkId, sound: Playable, options?: Options) => void
  /** Adds the next piece of a requested sound; ignored when its playback has ended. */
  readonly supply: (id: WorkId, sound: Frame.Sound, isLast: boolean) => void
  readonly fail: (id: WorkId, reason: PlaybackFailure) => void
  /** Ends all playbacks, or all of the asker `by`. `reason`: why, when no command stopped them. */
  readonly stop: (by: PlaybackQueue.Asker | null, reason?: "unbridged" | "member_left") => void
  /** The playback whose turn it is, if `by` is its asker. */
  readonly current: (by: PlaybackQueue.Asker) => WorkId | null
  /** Ends this playback at any place in the queue; ignored when it has ended. */
  readonly stopOne: (id: WorkId) => void
  /** The far end pressed a digit. */
  readonly digit: (digit: string) => void
  /** The number of frames in which a sound broke off because its next piece was not loaded. */
  readonly gaps: () => number
}

/** Requests the next piece of the sound of a playback; `supply` or `fail` answers it. */
export type Want = (playback: Pick<PlaybackQueue.Playback, "id" | "sound">) => void

/**
 * The queue of sounds that are played to one leg, one after the other, each converted to the rate of the leg.
 *
 * A playback keeps its place while its sound is fetched, and later ones wait. Sound is requested piece by piece, as it
 * is heard: playbacks far back in the queue hold none. Each asker gets exactly one end for every playback; those past
 * `maxPlaybacks` of one asker end at once, as `failed`. `unwant`: a playback of another asker has ended. Each playback
 * begins and ends in a raised cosine of 5 ms, also when it is stopped or its next piece is late; a loop has no seam.
 */
export const make = (own: PlaybackQueue.Asker, want: Want, unwant: (id: WorkId) => void): Player => {
  const queue = PlaybackQueue.make(want)
  const converter = RateConverter.make()
  /** The frame before conversion to the rate of the leg, and whether the last frame was converted. */
  let source = Frame.make(8000)
  let isFiltered = false
  let out = Frame.make(8000)
  /** The playback that was stopped while it was heard. The next frame fades it out. */
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

  /** Takes up to `wanted` samples of a playback at the rate of its sound; the rest of `into` is silence. */
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

  /** Fades out a sound with only `at` samples left here: over their end, or if too few, over a stretch after them. */
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

  /** Returns the next frame of a playback at the rate of the leg. */
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

  /** Returns the end of a stopped playback: its next 5 ms, as if the sound ended with them. */
  const fade = (gone: PlaybackQueue.Playback, rate: SampleRate): Frame.Frame | null => {
    if (gone.rate === null || gone.pieces.length === 0 || gone.loopsLeft === 0) return null
    const wanted = Ramp.lengthAt(rate)
    const frame = render(gone, gone.rate, rate, wanted)
    Ramp.fadeOut(frame.samples, rate, wanted, 0, wanted)
    frame.samples.fill(0, wanted)
    return frame
  }

  /** Returns the last milliseconds of an ended sound, which the filter still holds. */
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
        // The end is reported one frame late, because the last sample is sent only now.
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

/** Whether samples of it are loaded, or it still has to be faded out because no more are. */
const isAudible = ({ pieces, since }: PlaybackQueue.Playback): boolean => pieces.length > 0 || since > 0
