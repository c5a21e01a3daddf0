import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import * as Continuation from "./Continuation.ts"
import * as EchoedDigits from "./EchoedDigits.ts"
import * as RateConverter from "./RateConverter.ts"
import type { Source } from "./Source.ts"

export interface Bridge {
  /** Ends the bridge; each leg fades the other out and is by itself again. */
  readonly end: (now: number) => void
  /**
   * Whether packets could pass both ways from peer to peer as they come, without being decoded: both are peers of the
   * same packet format, and each hears the other alone and unchanged, so neither would hear a difference. Taps do not
   * matter: they are given decoded frames in addition.
   */
  readonly couldForward: () => boolean
  /**
   * Whether rounds of the legs change nothing, because packets pass both ways and nothing listens to them. Then neither
   * leg needs ticks until a command comes for one of them, packets stay away, or they come in another format.
   */
  readonly isAtRest: () => boolean
}

/** Whether the packets of one leg could go to the peer of the other, which hears nothing but `source`. */
const couldPass = (from: LocalLeg, to: LocalLeg, source: Source): boolean => {
  const one = from.far.packetFormat()
  const other = to.far.packetFormat()
  return (
    one !== null &&
    other !== null &&
    one.codec === other.codec &&
    one.telephoneEvents === other.telephoneEvents &&
    to.mix.isOnly(source)
  )
}

/** Whether anything besides the other leg listens to this leg. */
const isListened = ({ far, stream, taps }: LocalLeg): boolean => !taps.isEmpty() || far.pressesTones() || stream.isOn()

/**
 * One direction: the sound of a leg as a source for the other, and its packets when they can pass. `ahead` is the frame
 * that fades out when the bridge ends. While it `isHeld`, no packets pass.
 */
const half = (of: LocalLeg, to: LocalLeg, isHeld: (now: number) => boolean) => {
  const converter = RateConverter.make()
  const continuation = Continuation.make()
  let out = Frame.make(8000)
  let isOver = false
  let ahead: Frame.Frame | null = null
  let isForwarding = false

  const stop = (now: number): void => {
    isForwarding = false
    const heard = of.far.recall(now)
    if (heard !== null) to.far.prime(heard)
  }

  const said = (now: number): Frame.Frame | null => {
    if (!isOver) return of.read(now)
    const last = ahead
    ahead = null
    return last
  }

  const rest = (): void => {
    converter.rest()
    continuation.rest()
  }

  const source: Source = {
    next: (rate, _, now) => {
      const frame = said(now)
      if (frame === null) {
        rest()
        return null
      }
      let heard = frame
      if (frame.rate !== rate) {
        out = Frame.at(rate, out)
        converter.convert(frame, out)
        heard = out
      }
      continuation.hear(heard, frame.rate)
      return heard
    },
    pass: (now) => {
      void said(now)
      rest()
    },
    ready: () => false,
    close: converter.free
  }
  return {
    source,
    isForwarding: (): boolean => isForwarding,
    /** Called in the slot of the leg that receives the packets. */
    forward: (now: number): boolean => {
      const { sink } = to.far
      const isHeard = isListened(of) || isListened(to)
      const isFree = !isOver && !isHeld(now) && couldPass(of, to, source)
      const isNow = sink !== null && isFree && of.far.forward(sink, isHeard, now)
      if (isForwarding && !isNow) stop(now)
      isForwarding = isNow
      return isNow
    },
    end: (now: number): void => {
      if (isForwarding) stop(now)
      const last = of.read(now)
      isOver = true
      if (last === null) return
      ahead = Frame.make(last.rate)
      ahead.samples.set(last.samples)
    }
  }
}

/**
 * Joins two legs of one switch. Each hears the other without delay, because a leg is read in the slot in which the
 * other is sent to. Digits are sent on, and back once (`EchoedDigits`); playbacks and taps of either leg continue
 * unchanged. The bridge ends when a leg is closed.
 *
 * Neither leg may be a member of another junction.
 */
export const make = (a: LocalLeg, b: LocalLeg): Bridge => {
  /** The time until which packets do not pass, because their digits went to and fro. */
  let heldUntil = Number.NEGATIVE_INFINITY
  const isHeld = (now: number): boolean => now < heldUntil
  const [fromA, fromB] = [half(a, b, isHeld), half(b, a, isHeld)]
  const [toA, toB] = [EchoedDigits.make(), EchoedDigits.make()]

  let isOver = false

  const end = (now: number): void => {
    if (isOver) return
    isOver = true
    for (const side of [fromA, fromB]) side.end(now)
    a.leave(true)
    b.leave(true)
  }
  const crossing = (to: LocalLeg, here: EchoedDigits.EchoedDigits, there: EchoedDigits.EchoedDigits) => ({
    digit: (digit: string, isTone: boolean, at: number): void => {
      const crossings = here.crossings(digit, at)
      // A far end that listens to tones has heard the digit already.
      if (crossings >= EchoedDigits.mostCrossings || (isTone && to.far.pressesTones())) return
      to.dialer.relay(digit, (now) => there.sent(digit, crossings + 1, now))
    },
    passedDigit: (digit: string, at: number): void => {
      const crossings = here.crossings(digit, at)
      there.sent(digit, crossings + 1, at)
      if (crossings >= EchoedDigits.mostCrossings) heldUntil = at + EchoedDigits.windowMs
    }
  })
  a.join({
    source: fromB.source,
    forward: fromB.forward,
    ...crossing(b, toA, toB),
    beep: b.beep,
    others: [b.player],
    leave: end
  })
  b.join({
    source: fromA.source,
    forward: fromA.forward,
    ...crossing(a, toB, toA),
    beep: a.beep,
    others: [a.player],
    leave: end
  })

  const couldForward = (): boolean => !isOver && couldPass(a, b, fromA.source) && couldPass(b, a, fromB.source)
  const isAtRest = (): boolean =>
    fromA.isForwarding() && fromB.isForwarding() && !isListened(a) && !isListened(b) && couldForward()

  return {
    end,
    couldForward,
    isAtRest
  }
}
