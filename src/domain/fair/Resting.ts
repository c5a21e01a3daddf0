/**
 * What can be given up when room is needed, by holder: the next to go is of the holder that has most of it, and there
 * what has rested longest. Among holders with as many the one goes first whose number changed longest ago. Every step
 * takes the same time, however many holders there are. Mutable.
 */
export interface Resting<Item> {
  /** Begins to rest; one that rests already goes on. */
  readonly add: (holder: string, item: Item) => void
  /** Rests no more; one that does not changes nothing. */
  readonly remove: (holder: string, item: Item) => void
  /** The next to go, of this holder or of all; null: nothing rests. It stays until it is removed. */
  readonly next: (holder?: string) => Item | null
  /** Those that rest, of this holder or of all. */
  readonly count: (holder?: string) => number
}

export const make = <Item>(): Resting<Item> => {
  const held = new Map<string, Set<Item>>()
  /** Holders by how many they have; the index is that number. */
  const ranks: Array<Set<string>> = [new Set()]
  /** The last rank with somebody in it, or 0. */
  let top = 0
  let all = 0

  const rank = (holder: string, from: number, to: number): void => {
    ranks[from]?.delete(holder)
    if (to > 0) (ranks[to] ??= new Set()).add(holder)
    top = Math.max(top, to)
    while (top > 0 && ranks[top]?.size === 0) top--
  }

  return {
    add: (holder, item) => {
      const items = held.get(holder) ?? new Set()
      if (items.has(item)) return
      items.add(item)
      held.set(holder, items)
      all++
      rank(holder, items.size - 1, items.size)
    },
    remove: (holder, item) => {
      const items = held.get(holder)
      if (items?.delete(item) !== true) return
      all--
      if (items.size === 0) held.delete(holder)
      rank(holder, items.size + 1, items.size)
    },
    next: (holder) => {
      const loudest = holder ?? first(ranks[top])
      return loudest === null ? null : first(held.get(loudest))
    },
    count: (holder) => (holder === undefined ? all : (held.get(holder)?.size ?? 0))
  }
}

const first = <A>(set: ReadonlySet<A> | undefined): A | null => {
  for (const value of set ?? []) return value
  return null
}
