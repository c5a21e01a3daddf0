import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { Frame } from "../Frame.ts"
import * as Beeper from "../mix/Beeper.ts"

/** A tone that tells the members of a room something. */
export interface Signal<Member> {
  /** Sounds once, for all but `except`; while it sounds, nothing. */
  readonly sound: (except: Member | null) => void
  /** Who comes while it sounds does not hear the rest of it. */
  readonly joined: (member: Member) => void
  /** Once in a round: what of it sounds in the next 20 ms; null: nothing. Lent. */
  readonly next: (rate: SampleRate, now: number) => Frame | null
  /** Whether it is not for this member. */
  readonly isKeptFrom: (member: Member) => boolean
}

export const make = <Member>(tone?: Parameters<typeof Beeper.make>[0]): Signal<Member> => {
  const beeper = Beeper.make(tone)
  /** Who does not hear it this time. */
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
