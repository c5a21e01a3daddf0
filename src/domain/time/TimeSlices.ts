import { Effect } from "effect"

/** Work of the processor that can be interrupted at each `yield`, and gives its result at the end. */
export type Work<A> = Generator<void, A, void>

/** The length of a slice: other work of the thread waits for it, at most this long and one step of the work. */
const sliceMs = 5

/**
 * Runs long work in slices on this thread. Between two of them the event loop has a turn, so requests are answered
 * meanwhile. An interruption ends it after its slice.
 */
export const run = <A>(work: () => Work<A>): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    const going = work()
    let isOver = false
    const slice = (): void => {
      if (isOver) return
      const until = performance.now() + sliceMs
      try {
        do {
          const step = going.next()
          if (step.done === true) return resume(Effect.succeed(step.value))
        } while (performance.now() < until)
      } catch (defect) {
        return resume(Effect.die(defect))
      }
      setImmediate(slice)
    }
    slice()
    return Effect.sync(() => {
      isOver = true
    })
  })

/** Runs short work at once, or long work where nothing else waits. */
export const atOnce = <A>(work: Work<A>): A => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Applies a function to each item. */
export function* mapped<A, B>(items: Iterable<A>, of: (item: A) => B): Work<Array<B>> {
  const results: Array<B> = []
  for (const item of items) {
    results.push(of(item))
    yield
  }
  return results
}

/** The most items that are sorted in one step. */
const runLength = 1_024

/** Sorts items as `toSorted` does; equal ones keep their order. */
export function* sorted<A>(items: ReadonlyArray<A>, compare: (one: A, other: A) => number): Work<ReadonlyArray<A>> {
  let runs: Array<ReadonlyArray<A>> = []
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: Array<ReadonlyArray<A>> = []
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* merged(runs[at] ?? [], runs[at + 1] ?? [], compare))
    runs = longer
  }
  return runs[0] ?? []
}

function* merged<A>(
  one: ReadonlyArray<A>,
  other: ReadonlyArray<A>,
  compare: (one: A, other: A) => number
): Work<ReadonlyArray<A>> {
  const all: Array<A> = []
  let taken = 0
  for (const item of one) {
    for (; taken < other.length && compare(item, other[taken] as A) > 0; taken++) all.push(other[taken] as A)
    all.push(item)
    yield
  }
  for (; taken < other.length; taken++) all.push(other[taken] as A)
  return all
}
