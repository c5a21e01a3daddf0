import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as FairSemaphore from "../../../src/domain/fair/FairSemaphore.ts"
import * as Overdue from "../../../src/runtime/process/Overdue.ts"

/** Work of a body that never ends, in the only place; `perSec` bytes come in each second. */
const reading = (perSec: number, options: { readonly isBuffered?: boolean } = {}) =>
  Effect.gen(function* () {
    const places = FairSemaphore.make({ places: 1, capacity: 10 })
    let bytes = 0
    const progress = () => ({ bytes, isBuffered: options.isBuffered === true })
    const fiber = yield* Effect.never.pipe(
      Overdue.within(places, "slow", progress),
      places.within("slow"),
      Effect.exit,
      Effect.forkChild
    )
    const after = Effect.fnUntraced(function* (secs: number) {
      for (let sec = 0; sec < secs; sec++) {
        bytes += perSec
        yield* TestClock.adjust("1 second")
      }
      return fiber.pollUnsafe() === undefined
    })
    const wait = (holder: string) => Effect.forkChild(places.within(holder)(Effect.void))
    return { after, wait }
  })

it.effect("a body that trickles keeps its place while it is alone, and loses it to another holder", () =>
  Effect.gen(function* () {
    const { after, wait } = yield* reading(1_024)
    expect(yield* after(14)).toBe(true)
    const own = yield* wait("slow")
    expect(yield* after(20)).toBe(true)
    const other = yield* wait("other")
    expect(yield* after(1)).toBe(false)
    yield* Fiber.join(own)
    yield* Fiber.join(other)
  })
)

it.effect("a new body has time to begin, and one that comes fast enough keeps its place for fifteen seconds", () =>
  Effect.gen(function* () {
    const slow = yield* reading(1_024)
    yield* slow.wait("other")
    expect([yield* slow.after(1), yield* slow.after(2)]).toEqual([true, false])
    const fast = yield* reading(200_000)
    yield* fast.wait("other")
    expect([yield* fast.after(14), yield* fast.after(2)]).toEqual([true, false])
  })
)

it.effect("a body whose bytes wait here is not late", () =>
  Effect.gen(function* () {
    const { after, wait } = yield* reading(0, { isBuffered: true })
    yield* wait("other")
    expect([yield* after(14), yield* after(2)]).toEqual([true, false])
  })
)
