import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as FairShare from "../../../src/domain/fair/FairShare.ts"
import * as Ids from "../../support/Ids.ts"

const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

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

describe("places that tenants share, src/webhook/README.md#fan-out", () => {
  const [one, other, third] = ["one", "other", "third"].map(Ids.tenant)

  it("one tenant takes half of what the others leave, so each that comes finds some", () => {
    const shares = FairShare.counted({ capacity: 64 })
    expect(shares.takeUpTo(one ?? Ids.tenant(""), 100)).toBe(33)
    expect(shares.takeUpTo(other ?? Ids.tenant(""), 100)).toBe(16)
    expect(shares.takeUpTo(third ?? Ids.tenant(""), 100)).toBe(8)
    expect(shares.used()).toBe(57)
    shares.giveBack(one ?? Ids.tenant(""), 33)
    expect(shares.takeUpTo(other ?? Ids.tenant(""), 100)).toBe(13)
    expect(shares.used()).toBe(37)
  })

  it.prop(
    "never more are taken than there are, whoever takes and gives back",
    { steps: Schema.Array(small) },
    ({ steps }) => {
      const shares = FairShare.counted({ capacity: 10 })
      const held = new Map<string, number>()
      for (const step of steps) {
        const tenant = Ids.tenant(`${step % 3}`)
        if (step < 3) held.set(tenant, (held.get(tenant) ?? 0) + shares.takeUpTo(tenant, 4))
        else {
          shares.giveBack(tenant, held.get(tenant) ?? 0)
          held.delete(tenant)
        }
        expect(shares.used()).toBe([...held.values()].reduce((sum, count) => sum + count, 0))
        expect(shares.used()).toBeLessThanOrEqual(10)
      }
    }
  )
})
