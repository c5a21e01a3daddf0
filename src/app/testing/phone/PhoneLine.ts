import { type FarEnd, withoutPackets } from "../../../media/FarEnd.ts"

/** The rate of every phone: the widest that a call can have without a filter between two phones. */
export const rate = 16_000

interface Options {
  /** Receives the next 20 ms that the phone hears, lent for the duration of the function call. */
  readonly heard: (samples: Int16Array, now: number) => void
  /** The service pressed a digit. */
  readonly digit: (digit: string) => void
}

/** The far end of a leg that is a phone of the test: it plays the sounds that it is given, one after the other. */
export interface PhoneLine {
  readonly far: FarEnd
  /** `done` is called when the last sample is played, or the line is closed. */
  readonly say: (samples: Int16Array, done: () => void) => void
}

export const make = ({ digit, heard }: Options): PhoneLine => {
  const waiting: Array<{ readonly samples: Int16Array; readonly done: () => void }> = []
  let said = 0

  const fill = (out: Int16Array): boolean => {
    const [sound] = waiting
    out.fill(0)
    if (sound === undefined) return false
    out.set(sound.samples.subarray(said, said + out.length))
    said += out.length
    if (said >= sound.samples.length) {
      waiting.shift()
      said = 0
      sound.done()
    }
    return true
  }

  return {
    say: (samples, done) => void waiting.push({ samples, done }),
    far: {
      ...withoutPackets,
      rate: () => rate,
      ready: () => true,
      say: ({ samples }) => fill(samples),
      hear: ({ samples }, now) => heard(samples, now),
      press: (pressed) => {
        digit(pressed)
        return true
      },
      pressesTones: () => false,
      close: () => {
        for (const { done } of waiting.splice(0)) done()
      }
    }
  }
}
