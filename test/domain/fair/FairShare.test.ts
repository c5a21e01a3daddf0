import { describe, expect, it } from "@effect/vitest"
import * as FairShare from "../../../src/domain/fair/FairShare.ts"

describe("Room that is shared by halves", () => {
  const flood = (share: FairShare.FairShare, holder: string, capacity: number, used: number): number => {
    let taken = used
    while (share.allows(holder, taken, capacity)) {
      share.take(holder)
      taken++
    }
    return taken
  }

  it("gives one that floods half, the next one half of the rest, and one that comes late still finds some", () => {
    const share = FairShare.make()
    const first = flood(share, "first", 1_000, 0)
    expect(first).toBe(501)
    const second = flood(share, "second", 1_000, first) - first
    expect(second).toBe(250)
    expect(share.allows("late", first + second, 1_000)).toBe(true)
  })

  it("gives one nearly all where each may hold many times what is free, and the next ones as much of the rest", () => {
    const share = FairShare.make(9)
    const first = flood(share, "first", 1_000, 0)
    expect(first).toBe(901)
    const second = flood(share, "second", 1_000, first) - first
    expect(second).toBe(90)
    expect(share.allows("late", first + second, 1_000)).toBe(true)
    share.giveBack("first")
    expect(share.allows("first", first + second - 1, 1_000)).toBe(false)
    expect(share.allows("second", first + second - 1, 1_000)).toBe(true)
  })

  it("forgets whoever gave everything back", () => {
    const share = FairShare.make()
    const taken = flood(share, "one", 10, 0)
    for (let left = taken; left > 0; left--) share.giveBack("one")
    expect(share.holders()).toBe(0)
  })
})
