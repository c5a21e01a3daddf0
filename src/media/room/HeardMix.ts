import * as Limiter from "../../protocol/audio/Limiter.ts"
import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import * as RateConverter from "../mix/RateConverter.ts"
import * as Payloads from "../Payloads.ts"

/** How a room fades at a change of its rate: out over the last 5 ms of a frame, in over the first 5 ms of the next. */
export type Seam = "none" | "ends" | "begins"

const sew = ({ rate, samples }: Frame.Frame, seam: Seam): void => {
  if (seam === "ends") Ramp.fadeOut(samples, rate, samples.length, 0, samples.length)
  if (seam === "begins") Ramp.fadeIn(samples, rate, 0, 0, samples.length)
}

/** The common mix at a rate that is not the room's. */
interface Elsewhere {
  readonly converter: RateConverter.RateConverter
  frame: Frame.Frame
  isWanted: boolean
  wasWanted: boolean
}

interface Common {
  readonly limiter: Limiter.Limiter
  /** The last frame, at the rate of the room. */
  readonly present: () => Frame.Frame
  /** Announces that a member will hear the common mix at `rate` in this round, while the room has the rate `room`. */
  readonly want: (rate: SampleRate, room: SampleRate) => void
  /** Makes the frame of this round from a sum. */
  readonly render: (sum: Int32Array, rate: SampleRate, seam: Seam) => void
  /** Returns the frame for all members that wanted this rate. */
  readonly at: (rate: SampleRate) => Frame.Frame
  /** Marks that nothing was heard for a while. */
  readonly rest: () => void
  readonly free: () => void
}

const shared = (rate: SampleRate): Frame.Frame => ({ ...Frame.make(rate), payloads: Payloads.make() })
const sharedAt = (rate: SampleRate, frame: Frame.Frame): Frame.Frame => (frame.rate === rate ? frame : shared(rate))

/**
 * The common mix, for all members that add no sound themselves. It is limited once, converted once for each rate, and
 * encoded once for each stateless codec.
 */
export const common = (): Common => {
  const limiter = Limiter.make()
  let frame = shared(8000)
  const others = new Map<SampleRate, Elsewhere>()

  const elsewhere = (rate: SampleRate): Elsewhere => {
    const known = others.get(rate)
    if (known !== undefined) return known
    const made = { converter: RateConverter.make(), frame: shared(rate), isWanted: false, wasWanted: false }
    others.set(rate, made)
    return made
  }
  /** Fills a filter that was not in use with the last frame. */
  const prime = (other: Elsewhere): void => {
    if (other.isWanted && !other.wasWanted) other.converter.convert(frame, other.frame)
  }
  const convert = (other: Elsewhere): void => {
    if (other.isWanted) {
      other.frame.payloads?.clear()
      other.converter.convert(frame, other.frame)
    } else other.converter.forget()
    other.wasWanted = other.isWanted
    other.isWanted = false
  }

  return {
    limiter,
    present: () => frame,
    want: (rate, room) => {
      if (rate !== room) elsewhere(rate).isWanted = true
    },
    render: (sum, rate, seam) => {
      if (frame.rate === rate) others.forEach(prime)
      frame = sharedAt(rate, frame)
      frame.payloads?.clear()
      limiter.process(sum, frame.samples, rate)
      others.forEach(convert)
      if (seam === "none") return
      sew(frame, seam)
      others.forEach((other) => sew(other.frame, seam))
    },
    at: (rate) => (rate === frame.rate ? frame : elsewhere(rate).frame),
    rest: () => {
      frame.samples.fill(0)
    },
    free: () => others.forEach(({ converter }) => converter.free())
  }
}

export interface Own {
  /** Begins to differ from the common mix in this round. The rates are those of `render`. */
  readonly start: (from: Common, room: SampleRate, rate: SampleRate) => void
  /** Makes the frame of this round from a sum at the rate of the room, and returns it at the rate of the leg. */
  readonly render: (sum: Int32Array, room: SampleRate, rate: SampleRate, seam: Seam) => Frame.Frame
  /** Whether the member could return to the common mix without a step, once the sums are the same. */
  readonly isLike: (common: Common) => boolean
  readonly free: () => void
}

/**
 * The mix of one member alone: without its own voice, or with a whisper. It begins as a continuation of the common mix,
 * and the common mix continues it.
 */
export const own = (): Own => {
  const limiter = Limiter.make()
  const converter = RateConverter.make()
  let frame = Frame.make(8000)
  let out = Frame.make(8000)
  return {
    start: (from, room, rate) => {
      limiter.follow(from.limiter)
      converter.forget()
      const last = from.present()
      if (room === rate || last.rate !== room) return
      out = Frame.at(rate, out)
      converter.convert(last, out)
    },
    render: (sum, room, rate, seam) => {
      frame = Frame.at(room, frame)
      limiter.process(sum, frame.samples, room)
      if (rate === room) converter.forget()
      else {
        out = Frame.at(rate, out)
        converter.convert(frame, out)
      }
      const heard = rate === room ? frame : out
      if (seam !== "none") sew(heard, seam)
      return heard
    },
    isLike: (common) => limiter.isLike(common.limiter),
    free: converter.free
  }
}
