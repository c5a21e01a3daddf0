import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Starts from "../../../src/webhook/claim/Starts.ts"

const turnOfTheLoop = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

describe("the beginning of attempts, src/webhook/README.md#fan-out", () => {
  it.live("begins few in each turn of the event loop, those of a tenant with few under way first", () =>
    Effect.gen(function* () {
      const starts = Starts.make(1_000)
      const started: Array<string> = []
      const end = yield* Deferred.make<void>()
      const attempt = (tenant: string) =>
        Effect.forkChild(
          starts.within(tenant)(
            Effect.andThen(
              Effect.sync(() => void started.push(tenant)),
              Deferred.await(end)
            )
          ),
          { startImmediately: true }
        )
      for (let index = 0; index < 200; index++) yield* attempt("loud")
      yield* attempt("quiet")
      const before = started.length
      // Each costs the event loop some tenths of a millisecond, and other work runs between the turns.
      expect(before).toBeLessThanOrEqual(4)
      yield* turnOfTheLoop
      yield* turnOfTheLoop
      expect(started.slice(before, before + 8)).toContain("quiet")
      yield* Deferred.succeed(end, undefined)
    })
  )

  it.live("begins no more than there are places, and what is interrupted while it waits never", () =>
    Effect.gen(function* () {
      const starts = Starts.make(2)
      const started: Array<number> = []
      const ends = yield* Effect.forEach([0, 1, 2, 3], () => Deferred.make<void>())
      const fibers = yield* Effect.forEach(ends, (end, index) =>
        Effect.forkChild(
          starts.within("tenant")(
            Effect.andThen(
              Effect.sync(() => void started.push(index)),
              Deferred.await(end)
            )
          ),
          { startImmediately: true }
        )
      )
      yield* turnOfTheLoop
      expect([started, starts.underWay()]).toStrictEqual([[0, 1], 2])
      const [, , third] = fibers
      if (third !== undefined) yield* Fiber.interrupt(third)
      for (const end of ends) yield* Deferred.succeed(end, undefined)
      for (const fiber of [fibers[0], fibers[1], fibers[3]]) if (fiber !== undefined) yield* Fiber.join(fiber)
      expect(started).toStrictEqual([0, 1, 3])
      expect(starts.underWay()).toBe(0)
    })
  )

  const company = (isBusy: () => boolean) =>
    Effect.gen(function* () {
      let now = 0
      let due: Array<{ readonly at: number; readonly run: () => void }> = []
      const starts = Starts.make(1_000, {
        now: () => now,
        later: (run, ms) => void due.push({ at: now + ms, run }),
        thread: { isBusy }
      })
      const started: Array<string> = []
      const attempt = (tenant: string) =>
        Effect.forkChild(starts.within(tenant)(Effect.sync(() => void started.push(tenant))), {
          startImmediately: true
        })
      const turns = Effect.forEach(Array.from({ length: 40 }), () => turnOfTheLoop, { discard: true })
      return {
        started,
        attempt,
        turns,
        loud: Effect.forEach(Array.from({ length: 100 }), () => attempt("loud"), { discard: true }),
        pass: (ms: number) =>
          Effect.sync(() => {
            now += ms
            const ripe = due.filter(({ at }) => at <= now)
            due = due.filter(({ at }) => at > now)
            for (const { run } of ripe) run()
          })
      }
    })

  it.live("lets a loud tenant rest while the thread is busy and another begins some, and go on after each window", () =>
    Effect.gen(function* () {
      const { attempt, started, loud, pass, turns } = yield* company(() => true)
      yield* attempt("quiet")
      yield* loud
      yield* turns
      expect(started.length).toBe(1 + 4)
      yield* attempt("quiet")
      yield* turns
      expect(started.at(-1)).toBe("quiet")
      const before = started.length
      yield* pass(25)
      yield* turns
      expect(started.slice(before)).toStrictEqual(["loud", "loud", "loud", "loud"])
    })
  )

  it.live("lets nobody rest while the thread has time", () =>
    Effect.gen(function* () {
      const { attempt, started, loud, turns } = yield* company(() => false)
      yield* attempt("quiet")
      yield* loud
      yield* turns
      expect(started.length).toBe(101)
    })
  )

  it.live("lets a tenant that is alone have all of the thread", () =>
    Effect.gen(function* () {
      const { started, loud, turns } = yield* company(() => true)
      yield* loud
      yield* turns
      expect(started.length).toBe(100)
    })
  )
})
