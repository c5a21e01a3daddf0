import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Frame from "../../../src/media/Frame.ts"
import type { LocalLeg } from "../../../src/media/plane/LocalLeg.ts"
import type { Ticked } from "../../../src/media/plane/Slots.ts"
import type { Source } from "../../../src/media/mix/Source.ts"

interface Member {
  readonly leg: LocalLeg
  readonly said: Int16Array
  readonly hears: Frame.Frame
}

/**
 * The smallest room, which shows that the interface suffices for one. It has a slot of its own, in which it reads all
 * members and makes the frame of each: the sound of all others. Members are sent to in their own slots.
 */
export const make = (rate: SampleRate) => {
  const members = new Map<LocalLeg, Member>()
  const length = Frame.lengthAt(rate)
  const sum = new Int32Array(length)

  const leave = (leg: LocalLeg): void => {
    if (members.delete(leg)) leg.leave(false)
  }

  const room: Ticked & { readonly join: (leg: LocalLeg) => boolean } = {
    join: (leg) => {
      const hears = Frame.make(rate)
      const source: Source = {
        next: () => hears,
        pass: () => undefined,
        ready: () => true,
        close: () => undefined
      }
      if (!leg.join({ source, digit: () => undefined, beep: () => undefined, others: [], leave: () => leave(leg) }))
        return false
      members.set(leg, { leg, said: new Int16Array(length), hears })
      return true
    },
    tick: (now) => {
      sum.fill(0)
      for (const { leg, said } of members.values()) {
        const frame = leg.read(now)
        if (frame === null) said.fill(0)
        else said.set(frame.samples)
        for (let i = 0; i < length; i++) sum[i] = (sum[i] ?? 0) + (said[i] ?? 0)
      }
      for (const { hears, said } of members.values())
        for (let i = 0; i < length; i++)
          hears.samples[i] = Math.max(-32_768, Math.min(32_767, (sum[i] ?? 0) - (said[i] ?? 0)))
    },
    skip: () => undefined
  }
  return room
}
