/**
 * Idle items that can be given up when room is needed, by holder: the next one is of the holder with the most, and
 * there the one that has rested longest. Among holders with equally many it is the one whose number changed longest
 * ago. Every step takes constant time, however many holders there are. Mutable.
 */
interface Resting<Item> {
  /** Adds an item; one that rests already is unchanged. */
  readonly add: (holder: string, item: Item) => void
  /** Removes an item; one that does not rest changes nothing. */
  readonly remove: (holder: string, item: Item) => void
  /** The next item to give up, of this holder or of all; null: there is none. It stays until it is removed. */
  readonly next: (holder?: string) => Item | null
  /** The number of items, of this holder or of all. */
  readonly count: (holder?: string) => number
}

export const make = <Item>(): Resting<Item> => {
  const held = new Map<string, Set<Item>>()
  /** Holders by the number of their items, which is the index. */
  const ranks: Array<Set<string>> = [new Set()]
  /** The highest rank that has a holder, or 0. */
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
