/**
 * A queue in which holders (tenants) take turns: each gets one of its items served, then the next holder. The items of
 * one holder keep their order. So a thousand items of one delay another's first by one turn. Mutable; it has no bound,
 * so its users must bound the number of items.
 */
interface RoundRobin<Item> {
  readonly add: (holder: string, item: Item) => void
  /** Takes up to `limit` items in turns. A holder whose first item `admits` refuses is skipped, and keeps its place. */
  readonly take: (limit: number, admits: (holder: string, item: Item) => boolean) => ReadonlyArray<Item>
  readonly size: () => number
}

export const make = <Item>(): RoundRobin<Item> => {
  /** The lines of items in the order of their turns. */
  const lines = new Map<string, Array<Item>>()
  let size = 0

  /** One turn for every admitted holder. */
  const round = (taken: Array<Item>, limit: number, admits: (holder: string, item: Item) => boolean): void => {
    for (const [holder, line] of Array.from(lines)) {
      const [item] = line
      if (taken.length === limit) return
      if (item === undefined || !admits(holder, item)) continue
      line.shift()
      size--
      taken.push(item)
      lines.delete(holder)
      if (line.length > 0) lines.set(holder, line)
    }
  }

  return {
    add: (holder, item) => {
      const line = lines.get(holder)
      if (line === undefined) lines.set(holder, [item])
      else line.push(item)
      size++
    },
    take: (limit, admits) => {
      const taken: Array<Item> = []
      for (let before = -1; before < taken.length && taken.length < limit;) {
        before = taken.length
        round(taken, limit, admits)
      }
      return taken
    },
    size: () => size
  }
}
