import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as RoundRobin from "../../../src/domain/fair/RoundRobin.ts"

const everybody = () => true
const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

describe("turns by tenant, src/domain/README.md#fair-shares", () => {
  it("a thousand items of one holder delay another's first by one turn", () => {
    const turns = RoundRobin.make<string>()
    for (let index = 0; index < 1_000; index++) turns.add("loud", `loud ${index}`)
    turns.add("quiet", "quiet 0")
    expect(turns.take(4, everybody)).toStrictEqual(["loud 0", "quiet 0", "loud 1", "loud 2"])
    turns.add("quiet", "quiet 1")
    expect(turns.take(2, everybody)).toStrictEqual(["loud 3", "quiet 1"])
    expect(turns.size()).toBe(996)
  })

  it("a holder that is not admitted is passed over and keeps its items", () => {
    const turns = RoundRobin.make<string>()
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
      const turns = RoundRobin.make<{ readonly holder: string; readonly index: number }>()
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
