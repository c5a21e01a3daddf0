/** A digit crosses a bridge to the other far end, and back from one that repeats what it gets; no further. */
export const mostCrossings = 2
/** How long after a digit was sent the same one counts as that digit, repeated. */
export const windowMs = 3000

interface Sent {
  readonly digit: string
  readonly crossings: number
  readonly at: number
}

/** What was sent to one far end of a bridge and may come back. */
export interface EchoedDigits {
  /** The far end is sent a digit that has now crossed so often. */
  readonly sent: (digit: string, crossings: number, at: number) => void
  /** How often a digit of the far end has crossed already: 0 for one that it was not sent lately. */
  readonly crossings: (digit: string, at: number) => number
}

/**
 * Two far ends that repeat each digit that they get would hand one to and fro for as long as they are bridged. What a person
 * presses and what is repeated look alike, so each digit is told; only how often it crosses is bounded.
 */
export const make = (): EchoedDigits => {
  let waiting: ReadonlyArray<Sent> = []
  return {
    sent: (digit, crossings, at) => {
      waiting = [...waiting, { digit, crossings, at }]
    },
    crossings: (digit, at) => {
      waiting = waiting.filter((sent) => at - sent.at <= windowMs)
      const found = waiting.find((sent) => sent.digit === digit)
      waiting = waiting.filter((sent) => sent !== found)
      return found?.crossings ?? 0
    }
  }
}
