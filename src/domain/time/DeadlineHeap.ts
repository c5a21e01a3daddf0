/**
 * A binary heap of deadlines whose owners know their place in it: the earliest in O(1), set and remove in O(log n), and
 * at most one entry for each owner, so that nothing stale piles up.
 */
export interface Node {
  /** Absolute milliseconds. */
  at: number
  /** Place in the heap, or -1. */
  place: number
}

export interface DeadlineHeap<Owner extends Node> {
  readonly items: Array<Owner>
}

export const make = <Owner extends Node>(): DeadlineHeap<Owner> => ({ items: [] })

export const earliest = <Owner extends Node>(heap: DeadlineHeap<Owner>): Owner | undefined => heap.items[0]

const put = <Owner extends Node>(items: Array<Owner>, owner: Owner, place: number): void => {
  items[place] = owner
  owner.place = place
}

const rise = <Owner extends Node>(items: Array<Owner>, owner: Owner, from: number): void => {
  let place = from
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = items[above]
    if (parent === undefined || parent.at <= owner.at) break
    put(items, parent, place)
    place = above
  }
  put(items, owner, place)
}

const sink = <Owner extends Node>(items: Array<Owner>, owner: Owner, from: number): void => {
  let place = from
  while (true) {
    const left = items[2 * place + 1]
    const right = items[2 * place + 2]
    const child = right !== undefined && left !== undefined && right.at < left.at ? right : left
    if (child === undefined || child.at >= owner.at) break
    const next = child.place
    put(items, child, place)
    place = next
  }
  put(items, owner, place)
}

export const remove = <Owner extends Node>(heap: DeadlineHeap<Owner>, owner: Owner): void => {
  const { place } = owner
  if (place < 0) return
  owner.place = -1
  const last = heap.items.pop()
  if (last === undefined || last === owner) return
  if (last.at < owner.at) rise(heap.items, last, place)
  else sink(heap.items, last, place)
}

/** Puts the owner at its deadline; null takes it out. */
export const set = <Owner extends Node>(heap: DeadlineHeap<Owner>, owner: Owner, at: number | null): void => {
  if (owner.place >= 0 && owner.at === at) return
  remove(heap, owner)
  if (at === null) return
  owner.at = at
  heap.items.push(owner)
  rise(heap.items, owner, heap.items.length - 1)
}
