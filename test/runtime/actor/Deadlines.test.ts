import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Deadlines from "../../../src/runtime/actor/Deadlines.ts"

const nothing = () => {}

describe("Deadlines of many actors", () => {
  it.effect("wake each of 20,000 once, at its last deadline, though many are equal, moved or removed", () =>
    Effect.gen(function* () {
      const { set } = yield* Deadlines.make
      const woken = new Map<string, ReadonlyArray<number>>()
      let now = 0
      const wake = (key: string) => () => void woken.set(key, [...(woken.get(key) ?? []), now])
      const keys = Array.from({ length: 20_000 }, (_, index) => `actor ${index}`)
      keys.forEach((key, index) => set(key, 5_000 - (index % 40) * 100, wake(key)))
      keys.forEach((key, index) => index % 2 === 0 && set(key, 1_000 + (index % 10) * 100, wake(key)))
      keys.forEach((key, index) => index % 3 === 0 && set(key, null, nothing))
      const expected = new Map(
        keys.flatMap((key, index): ReadonlyArray<readonly [string, ReadonlyArray<number>]> =>
          index % 3 === 0 ? [] : [[key, [index % 2 === 0 ? 1_000 + (index % 10) * 100 : 5_000 - (index % 40) * 100]]]
        )
      )
      yield* TestClock.adjust(0)
      for (now = 100; now <= 6_000; now += 100) yield* TestClock.adjust(100)
      expect(woken).toEqual(expected)
    })
  )

  it.effect("may be set, moved and removed by what is woken", () =>
    Effect.gen(function* () {
      const { set } = yield* Deadlines.make
      const heard: Array<string> = []
      const say = (name: string) => () => void heard.push(name)
      // All of them are due when the first is woken.
      set("first", -3, () => {
        heard.push("first")
        set("removed", null, nothing)
        set("moved", 100, say("moved"))
        set("first", 50, say("first again"))
        set("added", -3, say("added"))
      })
      set("removed", -2, say("removed"))
      set("moved", -1, say("moved too early"))
      yield* TestClock.adjust(0)
      expect(heard).toEqual(["first", "added"])
      yield* TestClock.adjust(50)
      expect(heard).toEqual(["first", "added", "first again"])
      yield* TestClock.adjust(50)
      expect(heard).toEqual(["first", "added", "first again", "moved"])
    })
  )

  it.effect("that come nearer while all wait for a far one are not slept through", () =>
    Effect.gen(function* () {
      const { set } = yield* Deadlines.make
      const heard: Array<string> = []
      set("far", 1_000_000_000, nothing)
      yield* TestClock.adjust(0)
      set("near", 50, () => void heard.push("near"))
      yield* TestClock.adjust(50)
      expect(heard).toEqual(["near"])
    })
  )
})
