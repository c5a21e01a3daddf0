import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as FairSemaphore from "../../../src/domain/fair/FairSemaphore.ts"

/** Work that reports when it begins, and ends when the test wants it to. */
const workshop = () => {
  const started: Array<string> = []
  const open = new Map<string, Deferred.Deferred<void>>()
  const work = (name: string) =>
    Effect.gen(function* () {
      started.push(name)
      const end = yield* Deferred.make<void>()
      open.set(name, end)
      yield* Deferred.await(end)
    })
  const end = Effect.fnUntraced(function* (name: string) {
    const running = open.get(name)
    if (running === undefined) throw new Error(`${name} has not begun`)
    yield* Deferred.succeed(running, undefined)
    yield* TestClock.adjust(1)
  })
  return { started, work, end }
}

describe("Places that are shared fairly", () => {
  it.effect("a hundred of one tenant delay another's one by one turn", () =>
    Effect.gen(function* () {
      const { started, end, work } = workshop()
      const { within } = FairSemaphore.make({ places: 2, capacity: 1_000 })
      for (let n = 0; n < 100; n++) yield* Effect.forkChild(within("loud")(work(`loud ${n}`)))
      yield* TestClock.adjust(0)
      yield* Effect.forkChild(within("quiet")(work("quiet")))
      yield* TestClock.adjust(0)
      expect(started).toEqual(["loud 0", "loud 1"])
      yield* end("loud 0")
      expect(started).toEqual(["loud 0", "loud 1", "quiet"])
    })
  )

  it.effect("work whose asker has gone is not begun, and holds up nobody", () =>
    Effect.gen(function* () {
      const { started, end, work } = workshop()
      const places = FairSemaphore.make({ places: 1, capacity: 1_000 })
      yield* Effect.forkChild(places.within("a")(work("first")))
      const gone: Array<Fiber.Fiber<void, FairSemaphore.NoCapacity>> = []
      for (let n = 0; n < 100; n++) gone.push(yield* Effect.forkChild(places.within("a")(work(`gone ${n}`))))
      yield* Effect.forkChild(places.within("a")(work("last")))
      yield* TestClock.adjust(0)
      yield* Fiber.interruptAll(gone)
      expect(places.waiting()).toBe(1)
      yield* end("first")
      expect(started).toEqual(["first", "last"])
    })
  )

  it.effect("a place comes back from work that fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      const places = FairSemaphore.make({ places: 1, capacity: 10 })
      yield* Effect.exit(places.within("a")(Effect.fail("no")))
      yield* Effect.exit(places.within("a")(Effect.die("no")))
      const running = yield* Effect.forkChild(places.within("a")(Effect.never))
      yield* TestClock.adjust(0)
      expect(places.running()).toBe(1)
      yield* Fiber.interrupt(running)
      expect(yield* places.within("b")(Effect.succeed("yes"))).toBe("yes")
      expect(places.running()).toBe(0)
    })
  )

  it.effect("a turn that does not come in time is given up, and its place in the line with it", () =>
    Effect.gen(function* () {
      const { started, end, work } = workshop()
      const places = FairSemaphore.make({ places: 1, capacity: 10, patienceMs: 1_000 })
      yield* Effect.forkChild(places.within("a")(work("first")))
      yield* TestClock.adjust(0)
      const waits = yield* Effect.forkChild(Effect.flip(places.within("b")(work("late"))))
      yield* TestClock.adjust(999)
      expect(places.waiting()).toBe(1)
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(waits)).toBeInstanceOf(FairSemaphore.NoCapacity)
      expect(places.waiting()).toBe(0)
      yield* end("first")
      expect(started).toEqual(["first"])
    })
  )

  it.effect("a line that is full refuses at once", () =>
    Effect.gen(function* () {
      const places = FairSemaphore.make({ places: 1, capacity: 2 })
      yield* Effect.forkChild(places.within("a")(Effect.never))
      yield* TestClock.adjust(0)
      for (let n = 0; n < 2; n++) yield* Effect.forkChild(places.within("a")(Effect.never))
      yield* TestClock.adjust(0)
      expect(yield* Effect.flip(places.within("a")(Effect.void))).toBeInstanceOf(FairSemaphore.NoCapacity)
    })
  )

  it.effect("a holder rests for as long as its last effect took, while others go on", () =>
    Effect.gen(function* () {
      const { started, end, work } = workshop()
      const { within } = FairSemaphore.make({ places: 2, each: 1, rests: 1, capacity: 1_000 })
      for (let n = 0; n < 3; n++) yield* Effect.forkChild(within("loud")(work(`loud ${n}`)))
      yield* TestClock.adjust(100)
      expect(started).toEqual(["loud 0"])
      yield* end("loud 0")
      for (let n = 0; n < 2; n++) yield* Effect.forkChild(within("quiet")(work(`quiet ${n}`)))
      yield* TestClock.adjust(98)
      expect(started).toEqual(["loud 0", "quiet 0"])
      yield* TestClock.adjust(1)
      expect(started).toEqual(["loud 0", "quiet 0", "loud 1"])
      yield* TestClock.adjust(50)
      yield* end("loud 1")
      yield* TestClock.adjust(48)
      expect(started.at(-1)).toBe("loud 1")
      yield* TestClock.adjust(1)
      expect(started.at(-1)).toBe("loud 2")
    })
  )

  describe("while another holder comes too", () => {
    const shared = (isBusy: boolean) =>
      FairSemaphore.make({
        places: 8,
        capacity: 1_000,
        sparesPlaces: true,
        shared: { each: 2, withinMs: 60_000, thread: { isBusy: () => isBusy } }
      })
    const loudAndQuiet = Effect.fnUntraced(function* (isBusy: boolean) {
      const shop = workshop()
      const { within } = shared(isBusy)
      yield* Effect.forkChild(within("quiet")(shop.work("quiet")))
      yield* TestClock.adjust(0)
      yield* shop.end("quiet")
      for (let n = 0; n < 10; n++) yield* Effect.forkChild(within("loud")(shop.work(`loud ${n}`)))
      yield* TestClock.adjust(10)
      return { ...shop, within }
    })

    it.effect("it has two places, and so has the other", () =>
      Effect.gen(function* () {
        const { started, within, work } = yield* loudAndQuiet(false)
        expect(started).toEqual(["quiet", "loud 0", "loud 1"])
        for (const name of ["one", "two", "three"]) yield* Effect.forkChild(within("quiet")(work(name)))
        yield* TestClock.adjust(0)
        expect(started.slice(3)).toEqual(["one", "two"])
      })
    )

    it.effect("it rests for as long as its work took when the thread is busy, and not when it has time", () =>
      Effect.gen(function* () {
        const calm = yield* loudAndQuiet(false)
        yield* calm.end("loud 0")
        expect(calm.started.at(-1)).toBe("loud 2")

        const busy = yield* loudAndQuiet(true)
        yield* busy.end("loud 0")
        yield* TestClock.adjust(8)
        expect(busy.started).toEqual(["quiet", "loud 0", "loud 1"])
        yield* TestClock.adjust(2)
        expect(busy.started.at(-1)).toBe("loud 2")
      })
    )
  })
})
