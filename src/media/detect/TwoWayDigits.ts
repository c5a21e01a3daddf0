/** By which way a digit of a far end came: in its packets (events or tones), or in its signalling (SIP INFO). */
type Way = "media" | "signalling"

/**
 * How far apart the two ways may bring one press. The media bring it from its beginning to its end, and the signalling
 * at any moment: many peers send INFO at the release of the key, when they know the duration.
 */
const windowMs = 1000

interface Press {
  readonly way: Way
  readonly digit: string
  /** When it came; for a press in the media: when it was last held. */
  at: number
}

interface TwoWayDigits {
  /**
   * Takes a digit that came by one way; `at` is in milliseconds. False: it is a press that the other way has brought
   * already, within the last second, and does not count again.
   */
  readonly take: (way: Way, digit: string, at: number) => boolean
  /** The press that the media brought last is still held: the second counts from now on. */
  readonly hold: (at: number) => void
  /** The media brought a press that does not count at all, so `hold` is not about the one before it. */
  readonly skip: () => void
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
  /** The press that the media brought last, if it is in `single`. */
  let held: Press | null = null
  return {
    take: (way, digit, at) => {
      single = single.filter((press) => at - press.at <= windowMs)
      const twin = single.find((press) => press.way !== way && press.digit === digit)
      const press = twin === undefined ? { way, digit, at } : null
      if (way === "media") held = press
      single = press === null ? single.filter((each) => each !== twin) : [...single, press]
      return press !== null
    },
    hold: (at) => {
      if (held !== null) held.at = at
    },
    skip: () => {
      held = null
    }
  }
}
