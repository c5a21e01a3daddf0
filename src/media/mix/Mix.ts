import * as Limiter from "../../protocol/audio/Limiter.ts"
import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import type { Behind, Source } from "./Source.ts"

/** The order of the sources that a leg hears. A source may duck or silence those after it. */
const ranks = ["digits", "announcement", "playback", "stream", "junction", "hold", "ringback", "comfort"] as const
type Rank = (typeof ranks)[number]

/** -12 dB. */
const duckedGain = 0.25
const gainBehind: Readonly<Record<Behind, number>> = { heard: 1, ducked: duckedGain, silenced: 0 }
const silencedGain = gainBehind.silenced

interface Place {
  readonly source: Source
  readonly rank: number
  readonly behind: Behind
  /** Whether it is heard only while no source before it sounds. */
  readonly yields: boolean
  /** Whether its sound may have begun before it is heard: then it is faded in whenever it comes out of silence. */
  readonly isLive: boolean
  /** The gain at the end of the last frame; 0 for a new source, which is faded in. */
  gain: number
  /** Whether the last frame contained its sound. */
  sounds: boolean
  isLeaving: boolean
}

export type Mix = ReturnType<typeof make>

/**
 * The sound that one leg hears: its sources in their order, added when several sound, and limited when they are too
 * loud together. A source that sounds alone and unchanged is handed on as it is.
 *
 * A source that is added, removed, ducked or silenced changes its gain in a raised cosine of 5 ms. A source that
 * silences others begins one frame later if one of them sounds, so that they are faded out before it.
 *
 * A ring-back tone is heard only while no source before it sounds, and so is the music of a leg on hold.
 *
 * Another leg may be in the middle of a word when it begins to be heard: as it is joined, as its first packets come
 * late, after a gap of the network, or after a time in which the leg could not hear. So each of its sounds is faded in.
 *
 * Each source is called once in a round, `next` or `pass`.
 */
export const make = () => {
  let places: ReadonlyArray<Place> = []
  let isClosed = false
  const limiter = Limiter.make()
  let sum = new Int32Array(Frame.lengthAt(8000))
  let out = Frame.make(8000)

  const add = (frame: Frame.Frame, from: number, to: number): void => {
    const { samples } = frame
    const ramp = Ramp.at(frame.rate)
    const ramped = from === to ? 0 : ramp.length
    for (let i = 0; i < ramped; i++)
      sum[i] = (sum[i] ?? 0) + Math.round((samples[i] ?? 0) * (from + (to - from) * (ramp[i] ?? 1)))
    if (to === 1) for (let i = ramped; i < samples.length; i++) sum[i] = (sum[i] ?? 0) + (samples[i] ?? 0)
    else if (to > 0)
      for (let i = ramped; i < samples.length; i++) sum[i] = (sum[i] ?? 0) + Math.round((samples[i] ?? 0) * to)
  }

  const clear = (length: number): void => {
    if (sum.length === length) sum.fill(0)
    else sum = new Int32Array(length)
  }

  const isHeardBehind = (round: ReadonlyArray<Place>, index: number): boolean => {
    for (let i = index + 1; i < round.length; i++) if (round[i]?.sounds === true) return true
    return false
  }

  const rest = (place: Place, gain: number, now: number): void => {
    place.source.pass(now)
    place.gain = gain
    place.sounds = false
  }

  const drop = (): void => {
    for (const { isLeaving, source } of places) if (isLeaving) source.close()
    places = places.filter(({ isLeaving }) => !isLeaving)
  }

  return {
    /**
     * Adds a source, after those of its rank. The caller bounds their number: a leg has a player, a dialer, one
     * junction, and the work that its call may have under way.
     */
    add: (source: Source, rank: Rank, behind: Behind = "heard"): void => {
      const [gain, sounds, isLeaving] = [0, false, false]
      const yields = rank === "ringback" || rank === "hold"
      const isLive = rank === "junction"
      const place = { source, rank: ranks.indexOf(rank), behind, yields, isLive, gain, sounds, isLeaving }
      places = [...places, place].sort((a, b) => a.rank - b.rank)
    },
    /** Fades the source out in the next round, and closes it. */
    remove: (source: Source): void => {
      for (const place of places) if (place.source === source) place.isLeaving = true
    },
    /** The next 20 ms at `rate`; lent until the next call. */
    next: (rate: SampleRate, now: number): Frame.Frame => {
      const length = Frame.lengthAt(rate)
      /** The gain of the sources that follow in the order. */
      let level = 1
      /** The only sound so far, unchanged. */
      let alone: Frame.Frame | null = null
      let count = 0
      let isLeft = false
      // A source may add others, which begin with the next round, or may close the leg.
      const round = places
      for (let i = 0; i < round.length; i++) {
        const place = round[i]
        if (place === undefined || isClosed) break
        const { behind, source } = place
        const to = place.isLeaving || (place.yields && count > 0) ? 0 : level
        isLeft ||= place.isLeaving
        if (to === 0 && (place.gain === 0 || !place.sounds)) {
          rest(place, 0, now)
          continue
        }
        if (behind === "silenced" && !place.sounds && source.ready() && isHeardBehind(round, i)) {
          rest(place, to, now)
          level = silencedGain
          continue
        }
        const from = place.isLive && !place.sounds ? 0 : place.gain
        const frame = source.next(rate, to === 0 ? Ramp.lengthAt(rate) : length, now)
        place.gain = frame === null && place.isLive ? place.gain : to
        place.sounds = frame !== null && to > 0
        if (frame === null) continue
        level = Math.min(level, gainBehind[behind])
        count++
        if (count === 1 && from === 1 && to === 1 && limiter.isResting()) {
          alone = frame
          continue
        }
        if (count === 1 || alone !== null) clear(length)
        if (alone !== null) add(alone, 1, 1)
        alone = null
        add(frame, from, to)
      }
      if (isLeft) drop()
      if (alone !== null) return alone
      out = Frame.at(rate, out)
      if (count < 2 && limiter.isResting()) {
        for (let i = 0; i < length; i++) out.samples[i] = count === 0 ? 0 : (sum[i] ?? 0)
        return out
      }
      if (count === 0) clear(length)
      limiter.process(sum, out.samples, rate)
      return out
    },
    /** Lets 20 ms pass in which the leg cannot hear. */
    pass: (now: number): void => {
      let isLeft = false
      for (const place of places) {
        if (isClosed) return
        rest(place, place.isLive ? 0 : 1, now)
        isLeft ||= place.isLeaving
      }
      if (isLeft) drop()
    },
    /** Whether `source` is heard unchanged, and no other source has sound. */
    isOnly: (source: Source): boolean => {
      if (!limiter.isResting()) return false
      // The loop goes by index, because an iterator would be an allocation in each round.
      for (let i = 0; i < places.length; i++) {
        const place = places[i]
        if (place === undefined || place.isLeaving) return false
        if (place.source === source ? place.gain !== 1 : place.sounds || place.source.ready()) return false
      }
      return true
    },
    close: (): void => {
      isClosed = true
      const ended = places.toReversed()
      places = []
      for (const { source } of ended) source.close()
    }
  }
}
