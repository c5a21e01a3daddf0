/**
 * Reports whether holders have company, for limits that apply only then: a holder that is alone takes everything, and
 * one that shares it leaves some to the others. Mutable.
 */
interface Company {
  /** Counts an arrival of this holder. Times are milliseconds of any steady clock. */
  readonly came: (holder: string, now: number) => void
  /** Whether another holder than the newest has come within the time. */
  readonly isShared: (now: number) => boolean
}

export const make = (withinMs: number): Company => {
  let last = { holder: "", at: -Infinity }
  /** The newest arrival from another holder than that of `last`. */
  let other = last
  return {
    came: (holder, now) => {
      if (holder !== last.holder) other = last
      last = { holder, at: now }
    },
    isShared: (now) => now - other.at <= withinMs
  }
}
