import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import * as RateConverter from "../mix/RateConverter.ts"

/** A leg that came from another junction was read there shortly before; within this time it is not read again. */
const soonMs = Frame.frameMs / 2

export interface Input {
  /** Reads the leg; called once in a round. */
  readonly read: (now: number) => void
  /** The frame that was read, at its own rate; null: silence. Lent for the round. */
  readonly frame: () => Frame.Frame | null
  /** The same frame at the rate of the room. */
  readonly at: (rate: SampleRate) => Frame.Frame | null
  /** Adds the frame to a sum if the part was heard before or is heard now, faded where that changes. */
  readonly addTo: (sum: Int32Array, part: Part, isHeard: boolean, rate: SampleRate) => void
  /** Reads the frame that will be faded out, because the leg leaves; false: there is none. */
  readonly readAhead: (now: number) => boolean
  readonly free: () => void
}

/** The part of a member in one sum: in the common mix, or in the mix of a whisper's target. */
export interface Part {
  /** Whether it was heard at the end of the last round. */
  isHeard: boolean
  /** The samples that were added in this round; null: none. They may be lent, like the frame. */
  added: Int16Array | null
  readonly ramped: { samples: Int16Array }
}

export const part = (): Part => ({ isHeard: false, added: null, ramped: { samples: new Int16Array(0) } })

const copyOf = (part: Part, samples: Int16Array): Int16Array => {
  if (part.ramped.samples.length !== samples.length) part.ramped.samples = new Int16Array(samples.length)
  part.ramped.samples.set(samples)
  return part.ramped.samples
}

/** Returns the samples to add: the sound itself, or a copy that is faded in or out. */
const shaped = (part: Part, { rate, samples }: Frame.Frame, isHeard: boolean): Int16Array => {
  if (part.isHeard && isHeard) return samples
  const copy = copyOf(part, samples)
  if (isHeard) {
    Ramp.fadeIn(copy, rate, 0, 0, copy.length)
    return copy
  }
  const ramp = Ramp.lengthAt(rate)
  Ramp.fadeOut(copy, rate, ramp, 0, ramp)
  return copy.fill(0, ramp)
}

/** The sound of a member, as a room reads it: it is faded in and out over 5 ms, and converted only if it is heard. */
export const make = (leg: LocalLeg): Input => {
  const converter = RateConverter.make()
  const beganAt = leg.readAt()
  let hasStarted = false
  let frame: Frame.Frame | null = null
  let ahead: Frame.Frame | null = null
  let isOver = false
  let converted = Frame.make(8000)
  let isConverted = false

  const starts = (now: number): boolean => {
    hasStarted = true
    return now - beganAt >= soonMs
  }

  const at = (rate: SampleRate): Frame.Frame | null => {
    if (frame === null || frame.rate === rate) return frame
    if (isConverted) return converted
    isConverted = true
    converted = Frame.at(rate, converted)
    converter.convert(frame, converted)
    return converted
  }

  return {
    read: (now) => {
      if (!isConverted) converter.forget()
      isConverted = false
      if (isOver) {
        frame = ahead
        ahead = null
      } else frame = hasStarted || starts(now) ? leg.read(now) : null
    },
    frame: () => frame,
    at,
    addTo: (sum, part, isHeard, rate) => {
      const said = part.isHeard || isHeard ? at(rate) : null
      part.added = said === null ? null : shaped(part, said, isHeard)
      part.isHeard = said !== null && isHeard
      const { added } = part
      if (added !== null) for (let i = 0; i < added.length; i++) sum[i] = (sum[i] ?? 0) + (added[i] ?? 0)
    },
    readAhead: (now) => {
      isOver = true
      const last = leg.read(now)
      if (last === null) return false
      ahead = Frame.make(last.rate)
      ahead.samples.set(last.samples)
      return true
    },
    free: converter.free
  }
}
