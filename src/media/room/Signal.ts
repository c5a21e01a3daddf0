import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { Frame } from "../Frame.ts"
import * as Beeper from "../mix/Beeper.ts"

/** A tone that signals an event to the members of a room. */
export interface Signal<Member> {
  /** Sounds the tone once, for all but `except`; without effect while it sounds. */
  readonly sound: (except: Member | null) => void
  /** Excludes a member that joins while the tone sounds from the rest of it. */
  readonly joined: (member: Member) => void
  /** Returns the next 20 ms of the tone, once in a round; null: it does not sound. Lent. */
  readonly next: (rate: SampleRate, now: number) => Frame | null
  /** Whether this member does not hear the tone. */
  readonly isKeptFrom: (member: Member) => boolean
}

export const make = <Member>(tone?: Parameters<typeof Beeper.make>[0]): Signal<Member> => {
  const beeper = Beeper.make(tone)
  /** The members that do not hear the tone this time. */
  const deaf = new Set<Member>()
  return {
    sound: (except) => {
      if (beeper.ready()) return
      deaf.clear()
      if (except !== null) deaf.add(except)
      beeper.beep()
    },
    joined: (member) => {
      if (beeper.ready()) deaf.add(member)
    },
    next: (rate, now) => {
      const frame = beeper.next(rate, rate, now)
      if (frame === null && deaf.size > 0) deaf.clear()
      return frame
    },
    isKeptFrom: (member) => deaf.has(member)
  }
}
