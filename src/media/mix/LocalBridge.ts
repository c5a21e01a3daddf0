import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { type FarEnd, withoutPackets } from "../FarEnd.ts"
import * as Frame from "../Frame.ts"
import * as RateConverter from "./RateConverter.ts"

/** The far end of a leg that is joined to another leg of the same switch: it says that leg's sound. */
export interface LocalBridge extends FarEnd {
  /** Joins two ends that are alone. An end that is alone, also after the other was closed, is silent and deaf. */
  readonly join: (other: LocalBridge) => void
  readonly leave: () => void
  /** The other leg says a frame, at its own rate. */
  readonly receive: (frame: Frame.Frame) => void
  readonly receiveDigit: (digit: string) => void
}

/**
 * Each leg keeps its own slot of the 20 ms, so sound waits less than a frame. Only one frame waits, and a newer one
 * replaces it. Digits cross outside the sound: `onDigit` is called for each that the other leg presses.
 */
export const make = (rate: SampleRate, onDigit: (digit: string) => void): LocalBridge => {
  const waiting = Frame.make(rate)
  const converter = RateConverter.make()
  let isWaiting = false
  let other: LocalBridge | null = null

  const bridge: LocalBridge = {
    ...withoutPackets,
    join: (mate) => {
      if (other !== null) return
      other = mate
      mate.join(bridge)
    },
    leave: () => {
      other = null
      waiting.samples.fill(0)
      isWaiting = false
    },
    receive: (frame) => {
      converter.convert(frame, waiting)
      isWaiting = true
    },
    receiveDigit: onDigit,
    rate: () => rate,
    ready: () => other !== null,
    say: (out) => {
      out.samples.set(waiting.samples)
      waiting.samples.fill(0)
      const had = isWaiting
      isWaiting = false
      return had
    },
    hear: (frame) => other?.receive(frame),
    press: (digit) => {
      other?.receiveDigit(digit)
      return true
    },
    pressesTones: () => false,
    close: () => {
      other?.leave()
      bridge.leave()
      converter.free()
    }
  }
  return bridge
}
