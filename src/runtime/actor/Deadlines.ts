import { Effect, Latch } from "effect"
import * as DeadlineHeap from "../../domain/time/DeadlineHeap.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as Supervised from "../process/Supervised.ts"

/**
 * Wakes actors at their nearest deadline: one heap and one fiber for all of them.
 *
 * A sleeping fiber for each actor would cost 1.8 KB and 18 µs; an entry here costs a few words. Each key has one
 * deadline; setting it again replaces it.
 */
export interface Deadlines {
  /** Replaces the deadline of `key`; `null` removes it. `at` is on the monotonic clock. */
  readonly set: (key: Key, at: number | null, wake: () => void) => void
}

/** Compared as a `Map` does. */
type Key = string | object

interface Entry extends DeadlineHeap.Node {
  readonly key: Key
  wake: () => void
}

export const make = Effect.gen(function* () {
  const live = new Map<Key, Entry>()
  const heap = DeadlineHeap.make<Entry>()
  const changed = Latch.makeUnsafe(false)

  const remove = (entry: Entry): void => {
    live.delete(entry.key)
    DeadlineHeap.remove(heap, entry)
  }

  const set = (key: Key, at: number | null, wake: () => void): void => {
    const known = live.get(key)
    if (at === null) {
      if (known !== undefined) remove(known)
      return
    }
    if (known?.at === at) return
    const entry = known ?? { key, at, place: -1, wake }
    entry.wake = wake
    live.set(key, entry)
    DeadlineHeap.set(heap, entry, at)
    if (DeadlineHeap.earliest(heap) === entry) Latch.openUnsafe(changed)
  }

  const fire = (now: number): void => {
    for (let top = DeadlineHeap.earliest(heap); top !== undefined && top.at <= now; top = DeadlineHeap.earliest(heap)) {
      remove(top)
      top.wake()
    }
  }

  const wait = Effect.gen(function* () {
    Latch.closeUnsafe(changed)
    const now = yield* Monotonic.now
    fire(now)
    const next = DeadlineHeap.earliest(heap)
    yield* next === undefined
      ? Latch.await(changed)
      : Effect.raceFirst(Effect.sleep(Math.min(next.at - now, longestSleepMs)), Latch.await(changed))
  })
  yield* Supervised.fork("the timer of deadlines", Effect.forever(wait))

  return { set } satisfies Deadlines
})

/** Timers of the platform are limited to 2^31 ms, so a far deadline is looked at again after this time. */
const longestSleepMs = 86_400_000
