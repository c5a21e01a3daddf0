/** A digit crosses a bridge to the other far end, and back from one that repeats the digits it gets; no further. */
export const mostCrossings = 2
/** How long after a digit was sent the same digit counts as its repetition. */
export const windowMs = 3000

interface Sent {
  readonly digit: string
  readonly crossings: number
  readonly at: number
}

/** The digits that were sent to one far end of a bridge and may come back. */
export interface EchoedDigits {
  /** Notes a digit that is sent to the far end, and how often it has crossed with that. */
  readonly sent: (digit: string, crossings: number, at: number) => void
  /** Returns how often a digit of the far end has crossed already; 0 if it was not sent to it lately. */
  readonly crossings: (digit: string, at: number) => number
}

/**
 * Bounds how often a digit crosses. Two far ends that repeat each digit they get would pass one to and fro for as long
 * as they are bridged. A pressed digit and a repeated one look alike, so each is passed on, and only the number of its
 * crossings is bounded.
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
