/**
 * The holders that use most of something, among more than can be remembered. Mutable.
 *
 * It covers the present minute and the one before. At most `capacity` holders are remembered: a further one replaces
 * the quietest and begins with its count, so a loud one is never forgotten (space saving; Metwally, Agrawal and El
 * Abbadi, 2005). A reported use is never too low; `Loudness` errs the other way, and is cheaper in a flood.
 */
export interface Loudest {
  /** Times are in milliseconds of the monotonic clock. */
  readonly add: (holder: string, cost: number, now: number) => void
  /** At most `count` holders, the loudest first. */
  readonly top: (count: number, now: number) => ReadonlyArray<Use>
  readonly size: () => number
}

interface Use {
  readonly holder: string
  readonly times: number
  readonly cost: number
}

const windowMs = 60_000

export const make = (capacity = 1_000): Loudest => {
  let since = 0
  let current = new Map<string, Use>()
  let previous: ReadonlyMap<string, Use> = new Map()

  const turn = (now: number) => {
    if (now - since < windowMs) return
    previous = now - since < 2 * windowMs ? current : new Map()
    current = new Map()
    since = now
  }
  const quietest = (): Use | null => {
    let found: Use | null = null
    for (const use of current.values()) if (found === null || use.cost < found.cost) found = use
    return found
  }

  return {
    add: (holder, cost, now) => {
      turn(now)
      let before = current.get(holder)
      if (before === undefined && current.size >= capacity) {
        before = quietest() ?? undefined
        if (before !== undefined) current.delete(before.holder)
      }
      current.set(holder, { holder, times: (before?.times ?? 0) + 1, cost: (before?.cost ?? 0) + cost })
    },
    top: (count, now) => {
      turn(now)
      const all = new Map(previous)
      for (const use of current.values()) {
        const before = all.get(use.holder)
        all.set(use.holder, {
          holder: use.holder,
          times: use.times + (before?.times ?? 0),
          cost: use.cost + (before?.cost ?? 0)
        })
      }
      return [...all.values()].toSorted((one, other) => other.cost - one.cost).slice(0, count)
    },
    size: () => current.size
  }
}
