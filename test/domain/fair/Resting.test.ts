import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Resting from "../../../src/domain/fair/Resting.ts"

const holders = ["a", "b", "c", "d"]
const Step = Schema.Struct({
  holder: Schema.Literals(holders),
  item: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  does: Schema.Literals(["add", "add", "remove", "evict"])
})

describe("What rests", () => {
  it("goes by the number of its holder, and then by how long it has rested", () => {
    const resting = Resting.make<number>()
    resting.add("a", 1)
    resting.add("b", 2)
    resting.add("b", 3)
    resting.add("b", 2)
    expect(resting.next()).toBe(2)
    resting.remove("b", 2)
    expect(resting.next()).toBe(1)
    expect(resting.next("b")).toBe(3)
    expect(resting.next("c")).toBeNull()
  })

  it.prop("is of a holder that no other has more than, whatever came and went", [Schema.Array(Step)], ([steps]) => {
    const resting = Resting.make<number>()
    const model = new Map<string, Array<number>>(holders.map((holder) => [holder, []]))
    const holderOf = (item: number | null) => holders.find((holder) => model.get(holder)?.includes(item ?? -1))
    const out = (holder: string, item: number) => {
      model.set(holder, model.get(holder)?.filter((other) => other !== item) ?? [])
      resting.remove(holder, item)
    }
    for (const { does, holder, item: digit } of steps) {
      const item = digit + 10 * holders.indexOf(holder)
      if (does === "add") {
        resting.add(holder, item)
        if (model.get(holder)?.includes(item) === false) model.get(holder)?.push(item)
      } else if (does === "remove") out(holder, item)
      else {
        const next = resting.next()
        const from = holderOf(next)
        expect(from === undefined).toBe(next === null)
        if (from !== undefined && next !== null) out(from, next)
      }
      const most = Math.max(...[...model.values()].map((items) => items.length))
      const next = resting.next()
      const items = model.get(holderOf(next) ?? "") ?? []
      expect([items.length, items[0] ?? null]).toEqual([most, next])
      for (const [name, own] of model) {
        expect(resting.next(name)).toBe(own[0] ?? null)
        expect(resting.count(name)).toBe(own.length)
      }
      expect(resting.count()).toBe([...model.values()].flat().length)
    }
  })
})
