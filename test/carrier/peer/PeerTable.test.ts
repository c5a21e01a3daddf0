import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import * as Random from "../../support/Random.ts"

const filled = (version: number, addresses: ReadonlyArray<string>): PeerTable.PeerTable => {
  const table = PeerTable.make()
  for (const part of PeerTable.snapshot(version, addresses)) table.take(part)
  return table
}
const changes = (since: number, version: number, added: ReadonlyArray<string>, removed: ReadonlyArray<string> = []) =>
  ({ type: "changes", since, version, added, removed }) as const

it("is not whole before it has come, nor while names have not been resolved", () => {
  const table = PeerTable.make()
  expect(table.isWhole()).toBe(false)
  for (const part of PeerTable.snapshot(1, ["192.0.2.1"], false)) table.take(part)
  expect([table.has("192.0.2.1"), table.isWhole()]).toEqual([true, false])
  table.take({ type: "changes", since: 1, version: 2, added: [], removed: [] })
  expect(table.isWhole()).toBe(true)
})

describe("the table of known peers", () => {
  it("has no version before the first snapshot, which may be empty", () => {
    const table = PeerTable.make()
    expect(table.version()).toBe(0)
    expect(table.take(changes(0, 0, ["a"]))).toBe(0)
    for (const part of PeerTable.snapshot(3, [])) expect(table.take(part)).toBe(3)
    expect(table.size()).toBe(0)
  })

  it("goes on as it is until the last part of a snapshot has come", () => {
    const table = filled(1, ["old"])
    const many = Array.from({ length: 2 * PeerTable.partSize + 1 }, (_, at) => `new ${at}`)
    const parts = [...PeerTable.snapshot(2, many)]
    expect(parts).toHaveLength(3)
    expect(parts.map(table.take)).toEqual([1, 1, 2])
    expect([table.has("old"), table.has("new 0"), table.size()]).toEqual([false, true, many.length])
  })

  it("takes no changes that do not follow what it holds", () => {
    const table = filled(4, ["a"])
    expect(table.take(changes(5, 6, ["b"]))).toBe(4)
    expect(table.take(changes(4, 5, ["b"], ["a"]))).toBe(5)
    expect([table.has("a"), table.has("b")]).toEqual([false, true])
  })

  it.prop(
    "never goes back, and is the directory's whenever it has the directory's version, whatever is lost or repeated",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const table = PeerTable.make()
      const truth = new Set<string>()
      const past: Array<PeerTable.PeerUpdate> = []
      let version = 1
      let held = 0
      for (let step = 0; step < 120; step++) {
        const since = version++
        const address = `address ${random.below(20)}`
        const had = truth.delete(address)
        if (!had) truth.add(address)
        const update = changes(since, version, had ? [] : [address], had ? [address] : [])
        const news = random.below(4) === 0 ? [...PeerTable.snapshot(version, [...truth])] : [update]
        past.push(...news)
        const arriving = [...(random.below(3) === 0 ? [] : news), past[random.below(past.length)] ?? update]
        for (const each of arriving) {
          const now = table.take(each)
          expect(now).toBeGreaterThanOrEqual(held)
          expect(now).toBe(table.version())
          held = now
        }
        if (held === version) {
          expect(table.size()).toBe(truth.size)
          for (const each of truth) expect(table.has(each)).toBe(true)
        }
      }
    }
  )
})
