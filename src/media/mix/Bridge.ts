import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../LocalLeg.ts"
import * as RateConverter from "./RateConverter.ts"
import type { Source } from "./Source.ts"

export interface Bridge {
  /** Ends it; each leg fades the other out and is by itself again. */
  readonly end: (now: number) => void
  /**
   * Whether packets could go from peer to peer as they come, without being decoded: both are peers of the same packet
   * format, each hears the other alone and unchanged, and so nobody would hear a difference. Taps do not matter: they
   * are given decoded frames on the side.
   */
  readonly couldForward: () => boolean
}

/** The sound of one leg, as a source for the other. `ahead` is the frame that fades out when the bridge ends. */
const half = (of: LocalLeg) => {
  const converter = RateConverter.make()
  let out = Frame.make(8000)
  let isOver = false
  let ahead: Frame.Frame | null = null

  const said = (now: number): Frame.Frame | null => {
    if (!isOver) return of.read(now)
    const last = ahead
    ahead = null
    return last
  }

  const source: Source = {
    next: (rate, _, now) => {
      const frame = said(now)
      if (frame === null || frame.rate === rate) return frame
      out = Frame.at(rate, out)
      converter.convert(frame, out)
      return out
    },
    pass: (now) => void said(now),
    ready: () => false,
    close: converter.free
  }
  return {
    source,
    end: (now: number): void => {
      const last = of.read(now)
      isOver = true
      if (last === null) return
      ahead = Frame.make(last.rate)
      ahead.samples.set(last.samples)
    }
  }
}

/**
 * Joins two legs of one switch: each hears what the other says, at once, since it is read in the slot in which the
 * other is sent to. Digits are sent on; playbacks and taps of either leg go on as they were. Ends when a leg is closed.
 *
 * Neither may be a member of another junction.
 */
export const make = (a: LocalLeg, b: LocalLeg): Bridge => {
  const [fromA, fromB] = [half(a), half(b)]

  let isOver = false

  const end = (now: number): void => {
    if (isOver) return
    isOver = true
    for (const side of [fromA, fromB]) side.end(now)
    a.leave(true)
    b.leave(true)
  }
  a.join({ source: fromB.source, digit: b.dialer.relay, beep: b.beep, leave: end })
  b.join({ source: fromA.source, digit: a.dialer.relay, beep: a.beep, leave: end })

  return {
    end,
    couldForward: () => {
      if (isOver) return false
      const [one, other] = [a.far.packetFormat(), b.far.packetFormat()]
      return (
        one !== null &&
        other !== null &&
        one.codec === other.codec &&
        one.hasTelephoneEvents === other.hasTelephoneEvents &&
        a.mix.isOnly(fromB.source) &&
        b.mix.isOnly(fromA.source)
      )
    }
  }
}
