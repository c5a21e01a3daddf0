/** By which way a digit of a far end came: in its packets (events or tones), or in its signalling (SIP INFO). */
type Way = "media" | "signalling"

/** How far apart the two ways may bring one press. */
const windowMs = 1000

interface Press {
  readonly way: Way
  readonly digit: string
  readonly at: number
}

interface TwoWayDigits {
  /**
   * Takes a digit that came by one way; `at` is in milliseconds. False: it is a press that the other way has brought
   * already, within the last second, and does not count again.
   */
  readonly take: (way: Way, digit: string, at: number) => boolean
}

/**
 * Counts each press of a far end once, whether it sends its digits by one way or by both. The digits that come decide,
 * and not the session description: many peers agree to telephone events and send INFO all the same.
 *
 * Each press of one way is paired with one of the other, so quick repetitions of a digit count as often as they were
 * pressed. The caller limits how many digits come in a second, and with that how many are kept.
 */
export const make = (): TwoWayDigits => {
  let single: ReadonlyArray<Press> = []
  return {
    take: (way, digit, at) => {
      single = single.filter((press) => at - press.at <= windowMs)
      const twin = single.find((press) => press.way !== way && press.digit === digit)
      single = twin === undefined ? [...single, { way, digit, at }] : single.filter((press) => press !== twin)
      return twin === undefined
    }
  }
}
