/** Makes random numbers from a seed. */
export const make = (seed: number) => {
  let state = Math.imul(seed, 0x85_eb_ca_6b) >>> 0
  /** A number from 0 to below 1. */
  const next = () => {
    state = (state + 0x9e_37_79_b9) >>> 0
    let x = Math.imul(state ^ (state >>> 16), 0x21_f0_aa_ad)
    x = Math.imul(x ^ (x >>> 15), 0x73_5a_2d_97)
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return {
    next,
    chance: (share: number) => next() < share,
    between: (from: number, to: number) => from + (to - from) * next(),
    of: <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)] as A,
    /** A log-normal number around the median, limited to the range from `least` to `most`. */
    around: (median: number, spread: number, least: number, most: number) =>
      Math.max(least, Math.min(most, median * Math.exp(spread * normal())))
  }
}
export type Random = ReturnType<typeof make>
