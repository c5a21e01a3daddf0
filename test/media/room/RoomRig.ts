import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import { type FarEnd, withoutPackets } from "../../../src/media/FarEnd.ts"
import type { Entry, MemberChange } from "../../../src/ports/media/MemberChange.ts"
import type * as Switch from "../../../src/media/plane/Switch.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as SwitchBench from "../SwitchBench.ts"

/** Their residue after two passes of G.711 is small, and none is a multiple of another. */
export const frequencies = [439, 761, 1151, 1637, 2239] as const
export const dbfs = -20

/** A far end in memory: the sound it sends, its rate, and all sound that it was sent. */
export interface Phone {
  rate: SampleRate
  /** Writes its sound; null: silence. */
  say: ((out: Int16Array, rate: SampleRate) => void) | null
  /** The samples it was sent, at the rate of the phone. */
  readonly heard: Array<number>
  press: (digit: string) => void
}

export const tone = (frequency: number, level = dbfs) => {
  const oscillators = new Map<SampleRate, Tone.Oscillator>()
  return (out: Int16Array, rate: SampleRate): void => {
    const oscillator = oscillators.get(rate) ?? Tone.oscillator([{ frequency, dbfs: level }], rate)
    oscillators.set(rate, oscillator)
    oscillator.render(out)
  }
}

export const room = Ids.leg("room")

/** A switch with a room and phones on a clock that only `run` moves. */
export const make = (options: Partial<Switch.Options> = {}) => {
  const phones = new Map<string, Phone>()
  const bench = SwitchBench.make({
    phoneOf: (leg, _, onDigit) => farOf(phones.get(leg), onDigit),
    ...options
  })
  bench.handle({ type: "open_room", leg: room })

  const phone = (name: string): Phone => {
    const known = phones.get(name)
    if (known === undefined) throw new Error(`no phone ${name}`)
    return known
  }

  return {
    ...bench,
    phone,
    /** Opens a leg to a phone with this sound; it is in no room. */
    open: (name: string, say: Phone["say"], rate: SampleRate = 8000): void => {
      phones.set(name, { rate, say, heard: [], press: () => undefined })
      bench.handle({ type: "open_phone", leg: Ids.leg(name), script: { type: "silence" } })
    },
    enter: (name: string, entry: Partial<Entry> = {}, of = room): void =>
      bench.handle({
        type: "enter_room",
        leg: Ids.leg(name),
        room: of,
        entry: { memberId: Ids.member(name), isHost: false, isMuted: false, isHeld: false, ...entry }
      }),
    leave: (name: string): void => bench.handle({ type: "leave_room", leg: Ids.leg(name) }),
    close: (name: string): void => bench.handle({ type: "close", leg: Ids.leg(name) }),
    set: (name: string, change: MemberChange): void =>
      bench.handle({ type: "change_member", leg: room, memberId: Ids.member(name), change }),
    /** Returns the sound that a phone was sent since the last call. */
    take: (name: string): Int16Array => Int16Array.from(phone(name).heard.splice(0)),
    /** The level of a frequency in the last half second that a phone was sent. */
    level: (name: string, frequency: number): number => {
      const { heard, rate } = phone(name)
      return Goertzel.level(Int16Array.from(heard.slice(-rate / 2)), frequency, rate)
    }
  }
}

export type Rig = ReturnType<typeof make>

const farOf = (phone: Phone | undefined, onDigit: (digit: string) => void): FarEnd | null => {
  if (phone === undefined) return null
  phone.press = onDigit
  return {
    ...withoutPackets,
    rate: () => phone.rate,
    ready: () => true,
    say: ({ rate, samples }) => {
      if (phone.say === null) samples.fill(0)
      else phone.say(samples, rate)
      return phone.say !== null
    },
    hear: ({ rate, samples }) => {
      if (rate !== phone.rate) throw new Error(`a frame of ${rate}`)
      for (const sample of samples) phone.heard.push(sample)
    },
    press: () => true,
    pressesTones: () => false,
    close: () => undefined
  }
}
