import * as Ramp from "../../protocol/audio/Ramp.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import * as RateConverter from "../mix/RateConverter.ts"

/** A stretch of sound of every track, equally long. The receiver owns the samples. */
export interface Chunk {
  readonly rate: SampleRate
  /** When its first sample was heard, in milliseconds of the plane's clock. */
  readonly at: number
  /** The tracks in the requested order. */
  readonly tracks: ReadonlyArray<Int16Array>
}

/** The last frame is held back, so that it can be faded out if it turns out to be the end. */
const heldFrames = 1
/** A track that lags another by this many frames is filled with silence. */
const patienceFrames = 3
/** Longer gaps are not filled: the timeline continues after them. */
const longestHoleMs = 10_000

interface TrackState {
  readonly samples: Int16Array
  readonly converter: RateConverter.RateConverter
  /** The rate of its frames before conversion. */
  rate: SampleRate
  /** Samples since the beginning of the timeline. */
  end: number
  /** The last frame was inserted silence: the next one is faded in. */
  isCut: boolean
}

interface Line {
  readonly rate: SampleRate
  readonly frameLength: number
  readonly chunkLength: number
  readonly tracks: ReadonlyArray<TrackState>
}

/**
 * Lays the frames of some tracks on one time line, the tick of the plane, and hands it out in chunks of `chunkMs`.
 *
 * The tracks stay aligned: silence fills a missing frame, and a frame that is a little early or late for its track (a
 * bridged leg is read in another slot) directly follows the one before. The rate is that of the first frame, at most
 * `mostRate`, and stays; frames of other rates are converted. Sound that breaks off, or begins after a gap, is faded
 * over 5 ms.
 */
export const make = (of: {
  readonly tracks: number
  readonly chunkMs: number
  readonly mostRate: SampleRate
  readonly emit: (chunk: Chunk) => void
}) => {
  const { chunkMs, emit, mostRate } = of
  let line: Line | null = null
  /** When sample 0 was heard. */
  let originAt = 0
  /** The number of samples that were handed out. */
  let start = 0
  let isSilenced = false
  let converted = Frame.make(8000)

  const startLine = (rate: SampleRate, at: number): Line => {
    const lowered = rate < mostRate ? rate : mostRate
    const frameLength = Frame.lengthAt(lowered)
    const chunkLength = Math.max(1, Math.round(chunkMs / Frame.frameMs)) * frameLength
    originAt = at
    return {
      rate: lowered,
      frameLength,
      chunkLength,
      tracks: Array.from({ length: of.tracks }, () => ({
        samples: new Int16Array(chunkLength + (heldFrames + patienceFrames + 1) * frameLength),
        converter: RateConverter.make(),
        rate,
        end: 0,
        isCut: false
      }))
    }
  }
  /** Hands out the first `length` samples. */
  const give = ({ rate, tracks }: Line, length: number): void => {
    const chunk: Chunk = {
      rate,
      at: originAt + (start * 1000) / rate,
      tracks: tracks.map(({ samples }) => samples.slice(0, length))
    }
    start += length
    for (const { samples } of tracks) {
      samples.copyWithin(0, length)
      samples.fill(0, samples.length - length)
    }
    emit(chunk)
  }

  /** Fades a track out at its present end, because its sound breaks off there. */
  const cut = ({ frameLength, rate }: Line, track: TrackState): void => {
    if (track.isCut) return
    track.isCut = true
    track.converter.rest()
    const to = track.end - start
    const from = Math.max(0, to - frameLength)
    Ramp.fadeOut(track.samples, rate, to - from, from, to)
  }

  const silence = (of: Line, track: TrackState, until: number): void => {
    cut(of, track)
    while (track.end < until) {
      track.end = Math.min(until, track.end + of.frameLength)
      handOut(of)
    }
  }

  const handOut = (of: Line): void => {
    const { chunkLength, frameLength, tracks } = of
    const furthest = Math.max(...tracks.map(({ end }) => end))
    for (const track of tracks)
      if (track.end < furthest - patienceFrames * frameLength) {
        cut(of, track)
        track.end = furthest - patienceFrames * frameLength
      }
    const least = Math.min(...tracks.map(({ end }) => end))
    if (least - start >= chunkLength + heldFrames * frameLength) give(of, chunkLength)
  }

  const convert = ({ rate }: Line, track: TrackState, frame: Frame.Frame): Int16Array => {
    if (frame.rate === rate) return frame.samples
    converted = Frame.at(rate, converted)
    track.converter.convert(frame, converted)
    return converted.samples
  }

  /** Joins the frame at `place`, the first of another codec, to the sound before it, because it begins at once. */
  const join = ({ frameLength, rate }: Line, { isCut, samples }: TrackState, place: number): void => {
    if (isCut || place < frameLength) return
    const before = Splice.extend({ rate, samples: samples.subarray(place - frameLength, place) })
    if (before !== null) Splice.join(before.samples, samples.subarray(place, place + frameLength))
  }

  return {
    /** Takes a frame of track `index`, lent for the call. */
    hear: (index: number, frame: Frame.Frame, at: number): void => {
      line ??= startLine(frame.rate, at)
      const track = line.tracks[index]
      if (track === undefined) return
      const { frameLength, rate } = line
      const missing = Math.round((at - originAt) / Frame.frameMs - track.end / frameLength)
      // An extra frame, for which the clock has no time, is dropped.
      if (missing < -1) return
      if (missing * Frame.frameMs > longestHoleMs) originAt += missing * Frame.frameMs
      else if (missing > 1) silence(line, track, track.end + missing * frameLength)
      if (isSilenced) silence(line, track, track.end + frameLength)
      else {
        const place = track.end - start
        const isOther = frame.rate !== track.rate
        track.rate = frame.rate
        if (isOther) track.converter.rest()
        track.samples.set(convert(line, track, frame), place)
        if (isOther) join(line, track, place)
        if (track.isCut) Ramp.fadeIn(track.samples, rate, 0, place, place + frameLength)
        track.isCut = false
        track.end += frameLength
        handOut(line)
      }
    },
    /** Begins or ends the replacement of every frame by silence; none of its samples are kept. */
    silenced: (whether: boolean): void => {
      isSilenced = whether
    },
    /** Hands out the rest, faded out. */
    end: (): void => {
      if (line === null) return
      for (const track of line.tracks) cut(line, track)
      const left = Math.max(...line.tracks.map(({ end }) => end)) - start
      if (left > 0) give(line, left)
      for (const { converter } of line.tracks) converter.free()
    }
  }
}
