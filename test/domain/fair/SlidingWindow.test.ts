import { describe, expect, it } from "@effect/vitest"
import * as SlidingWindow from "../../../src/domain/fair/SlidingWindow.ts"

const rule = { limit: 3, windowMs: 1_000 }

describe("a sliding window, guide/limits.md#rates", () => {
  it("lets `limit` requests of a subject through in any window, and says when there is room again", () => {
    const window = SlidingWindow.make(rule)
    expect([0, 100, 200].map((now) => window.take("a", now))).toEqual([0, 0, 0])
    expect(window.take("a", 300)).toBe(700)
    expect(window.take("a", 999)).toBe(1)
    expect(window.take("a", 1_000)).toBe(0)
    expect(window.take("a", 1_050)).toBe(50)
  })

  it("does not count refused requests", () => {
    const window = SlidingWindow.make(rule)
    for (const now of [0, 0, 0]) window.take("a", now)
    for (let now = 1; now < 1_000; now += 10) expect(window.take("a", now)).toBeGreaterThan(0)
    expect([1_000, 1_000, 1_000, 1_000].map((now) => window.take("a", now))).toEqual([0, 0, 0, 1_000])
  })

  it("counts subjects apart", () => {
    const window = SlidingWindow.make({ limit: 1, windowMs: 1_000 })
    expect([window.take("a", 0), window.take("b", 0), window.take("a", 0)]).toEqual([0, 0, 1_000])
  })

  it("takes back a request that was counted, and forgets all of a subject", () => {
    const window = SlidingWindow.make(rule)
    for (const now of [0, 100, 200]) window.take("a", now)
    window.undo("a", 100)
    window.undo("a", 150)
    window.undo("b", 100)
    expect([window.take("a", 300), window.take("a", 400)]).toEqual([0, 600])
    window.clear("a")
    expect(window.size()).toBe(0)
    expect(window.take("a", 400)).toBe(0)
    window.undo("a", 400)
    expect(window.size()).toBe(0)
  })

  it("forgets the subject that asked longest ago when there are too many", () => {
    const window = SlidingWindow.make({ limit: 1, windowMs: 1_000 }, 2)
    for (const subject of ["a", "b", "c"]) window.take(subject, 0)
    expect(window.size()).toBe(2)
    expect([window.take("b", 1), window.take("a", 1)]).toEqual([999, 0])
  })
})
