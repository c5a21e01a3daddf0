import { expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as DeadlineHeap from "../../../src/domain/time/DeadlineHeap.ts"

const change = Schema.Struct({
  owner: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
  at: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })))
})

it.prop(
  "the earliest is that of a plain list, after any changes, and each owner stands in it once",
  { changes: Schema.Array(change).check(Schema.isMinLength(30), Schema.isMaxLength(200)) },
  ({ changes }) => {
    const heap = DeadlineHeap.make()
    const owners = Array.from({ length: 31 }, () => ({ at: 0, place: -1 }))
    const model = new Map<number, number>()
    for (const { owner, at } of changes) {
      const node = owners[owner]
      if (node === undefined) throw new Error("no owner")
      DeadlineHeap.set(heap, node, at)
      if (at === null) model.delete(owner)
      else model.set(owner, at)
      expect(DeadlineHeap.earliest(heap)?.at).toBe(model.size === 0 ? undefined : Math.min(...model.values()))
      expect(heap.items.length).toBe(model.size)
    }
    const drained: Array<number> = []
    for (let first = DeadlineHeap.earliest(heap); first !== undefined; first = DeadlineHeap.earliest(heap)) {
      drained.push(first.at)
      DeadlineHeap.remove(heap, first)
    }
    expect(drained).toEqual([...model.values()].sort((a, b) => a - b))
    expect(owners.every(({ place }) => place === -1)).toBe(true)
  },
  { arbitrary: { runs: 500 } }
)
