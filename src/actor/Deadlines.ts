import { Effect, Latch } from "effect"
import * as Monotonic from "../domain/Monotonic.ts"

/**
 * Wakes actors at their nearest deadline: one heap and one fiber for all of them.
 *
 * A fiber that sleeps per actor costs 1.8 KB and 18 µs each; an entry here costs a few words. Each key has one
 * deadline; setting it again replaces it. Stale heap entries are dropped when they surface, and the heap is rebuilt
 * when they outnumber the live ones.
 */
export interface Deadlines {
  /** Replaces the deadline of `key`; `null` removes it. `at` is on the monotonic clock. */
  readonly set: (key: Key, at: number | null, wake: () => void) => void
  /** Live deadlines, for metrics. */
  readonly size: () => number
}

/** Compared as a `Map` does. */
type Key = string | object

interface Entry {
  readonly key: Key
  readonly at: number
  readonly wake: () => void
}

export const make = Effect.gen(function* () {
  const live = new Map<Key, Entry>()
  let heap: Array<Entry> = []
  const changed = Latch.makeUnsafe(false)

  const set = (key: Key, at: number | null, wake: () => void): void => {
    if (at === null) {
      live.delete(key)
      return
    }
    if (live.get(key)?.at === at) return
    const entry: Entry = { key, at, wake }
    live.set(key, entry)
    if (heap.length > 64 + 2 * live.size) {
      heap = [...live.values()]
      heap.sort((a, b) => a.at - b.at)
    } else push(heap, entry)
    if (heap[0] === entry) Latch.openUnsafe(changed)
  }

  const fire = (now: number): void => {
    for (let top = heap[0]; top !== undefined && (live.get(top.key) !== top || top.at <= now); top = heap[0]) {
      pop(heap)
      if (live.get(top.key) !== top) continue
      live.delete(top.key)
      top.wake()
    }
  }

  yield* Effect.gen(function* () {
    Latch.closeUnsafe(changed)
    const now = yield* Monotonic.now
    fire(now)
    const next = heap[0]
    yield* next === undefined
      ? Latch.await(changed)
      : Effect.raceFirst(Effect.sleep(Math.min(next.at - now, longestSleepMs)), Latch.await(changed))
  }).pipe(Effect.forever, Effect.forkScoped)

  return { set, size: () => live.size } satisfies Deadlines
})

/** Timers of the platform end at 2^31 ms; a far deadline is simply looked at again. */
const longestSleepMs = 86_400_000

const push = (heap: Array<Entry>, entry: Entry): void => {
  let index = heap.push(entry) - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent]
    if (above === undefined || above.at <= entry.at) break
    heap[index] = above
    index = parent
  }
  heap[index] = entry
}

const pop = (heap: Array<Entry>): void => {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  while (true) {
    const left = 2 * index + 1
    const right = left + 1
    let least = left
    if (right < heap.length && (heap[right]?.at ?? 0) < (heap[left]?.at ?? 0)) least = right
    const child = heap[least]
    if (child === undefined || child.at >= last.at) break
    heap[index] = child
    index = least
  }
  heap[index] = last
}
