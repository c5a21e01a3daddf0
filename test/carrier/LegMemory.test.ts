import { assert, describe, it } from "@effect/vitest"
import * as LegMemory from "../../src/carrier/LegMemory.ts"

const make = () => {
  const live = new Set<string>()
  let now = 0
  const memory = LegMemory.make({ now: () => now, isLive: (legId) => live.has(legId) })
  return {
    live,
    memory,
    pass: (ms: number) => void (now += ms),
    admits: (commandId: string, epoch = 1, legId = "leg", partition = 0) =>
      memory.admits({ authority: { partition, epoch }, command: { legId, commandId } })
  }
}

describe("What a carrier remembers of its legs", () => {
  it("a command is taken once for each leg", () => {
    const { admits } = make()
    assert.deepStrictEqual(
      [admits("a"), admits("b"), admits("a"), admits("a", 1, "other leg")],
      [true, true, false, true]
    )
  })

  it("an owner that was replaced commands nothing more in its partition", () => {
    const { admits, memory } = make()
    assert.isTrue(admits("a", 3))
    assert.isTrue(memory.obey({ partition: 0, epoch: 4 }))
    assert.isFalse(admits("b", 3))
    assert.isTrue(admits("b", 4))
    assert.isTrue(admits("c", 3, "leg", 1))
    assert.isFalse(memory.obey({ partition: 0, epoch: 3 }))
  })

  it("events of a leg are counted from one, each leg for itself", () => {
    const { memory } = make()
    assert.deepStrictEqual([memory.next("a", false), memory.next("a", false), memory.next("b", false)], [1, 2, 1])
    assert.deepStrictEqual([memory.last("a"), memory.last("nobody")], [2, 0])
  })

  it("a leg that is over is forgotten after a while, one that lives is not", () => {
    const { admits, live, memory, pass } = make()
    live.add("long")
    admits("a", 1, "long")
    admits("a", 1, "short")
    memory.next("long", false)
    pass(LegMemory.keepMs - 1)
    assert.isFalse(admits("a", 1, "short"))
    pass(LegMemory.keepMs)
    admits("b", 1, "other")
    assert.isFalse(admits("a", 1, "long"))
    assert.strictEqual(memory.next("long", false), 2)
    assert.isTrue(admits("a", 1, "short"))
  })

  it("a leg whose end was told takes no more commands until it is forgotten", () => {
    const { admits, memory, pass } = make()
    memory.next("leg", true)
    assert.isFalse(admits("a"))
    pass(2 * LegMemory.keepMs)
    assert.isTrue(admits("a"))
  })

  it("keeps so many commands of a leg, the oldest go", () => {
    const { admits } = make()
    for (let count = 0; count <= LegMemory.idRoom; count++) admits(`command ${count}`)
    assert.isFalse(admits("command 1"))
    assert.isTrue(admits("command 0"))
  })
})
