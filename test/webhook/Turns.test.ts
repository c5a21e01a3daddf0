import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as LiveEndpoints from "../../src/webhook/LiveEndpoints.ts"
import * as Turns from "../../src/webhook/Turns.ts"
import * as Ids from "../support/Ids.ts"

const everybody = () => true
const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

describe("turns by tenant, src/README.md#fan-out", () => {
  it("a thousand items of one holder delay another's first by one turn", () => {
    const turns = Turns.make<string>()
    for (let index = 0; index < 1_000; index++) turns.add("loud", `loud ${index}`)
    turns.add("quiet", "quiet 0")
    expect(turns.take(4, everybody)).toStrictEqual(["loud 0", "quiet 0", "loud 1", "loud 2"])
    turns.add("quiet", "quiet 1")
    expect(turns.take(2, everybody)).toStrictEqual(["loud 3", "quiet 1"])
    expect(turns.size()).toBe(996)
  })

  it("a holder that is not admitted is passed over and keeps its items", () => {
    const turns = Turns.make<string>()
    for (const item of ["a 0", "a 1"]) turns.add("a", item)
    turns.add("b", "b 0")
    expect(turns.take(8, (holder) => holder !== "a")).toStrictEqual(["b 0"])
    expect(turns.take(8, everybody)).toStrictEqual(["a 0", "a 1"])
    expect(turns.take(8, everybody)).toStrictEqual([])
  })

  it.prop(
    "everything is taken once, in the order of its holder, and nobody is passed by more than one turn",
    { holders: Schema.Array(small), limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 })) },
    ({ holders, limit }) => {
      const turns = Turns.make<{ readonly holder: string; readonly index: number }>()
      holders.forEach((holder, index) => turns.add(`${holder}`, { holder: `${holder}`, index }))
      const taken: Array<{ readonly holder: string; readonly index: number }> = []
      for (let some = turns.take(limit, everybody); some.length > 0; some = turns.take(limit, everybody))
        taken.push(...some)
      expect(taken.length).toBe(holders.length)
      for (const own of Map.groupBy(taken, ({ holder }) => holder).values())
        expect(own.map(({ index }) => index)).toStrictEqual(own.map(({ index }) => index).toSorted((a, b) => a - b))
      // The n-th item of a holder comes before the (n + 2)-th of any other.
      const nth = new Map<string, number>()
      let most = 0
      for (const { holder } of taken) {
        const turn = (nth.get(holder) ?? 0) + 1
        nth.set(holder, turn)
        expect(turn).toBeGreaterThanOrEqual(most - 1)
        most = Math.max(most, turn)
      }
    }
  )
})

describe("places that tenants share, src/README.md#fan-out", () => {
  const [one, other, third] = ["one", "other", "third"].map(Ids.tenant)

  it("one tenant takes half of what the others leave, so each that comes finds some", () => {
    const shares = LiveEndpoints.makeShares(64)
    expect(shares.take(one ?? Ids.tenant(""), 100)).toBe(33)
    expect(shares.take(other ?? Ids.tenant(""), 100)).toBe(16)
    expect(shares.take(third ?? Ids.tenant(""), 100)).toBe(8)
    expect(shares.used()).toBe(57)
    shares.giveBack(one ?? Ids.tenant(""), 33)
    expect(shares.take(other ?? Ids.tenant(""), 100)).toBe(13)
    expect(shares.used()).toBe(37)
  })

  it.prop(
    "never more are taken than there are, whoever takes and gives back",
    { steps: Schema.Array(small) },
    ({ steps }) => {
      const shares = LiveEndpoints.makeShares(10)
      const held = new Map<string, number>()
      for (const step of steps) {
        const tenant = Ids.tenant(`${step % 3}`)
        if (step < 3) held.set(tenant, (held.get(tenant) ?? 0) + shares.take(tenant, 4))
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
