import { describe, expect, it } from "@effect/vitest"
import * as OrderMemory from "../../src/carrier/OrderMemory.ts"
import type { CommandId, LegId } from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

const make = () => {
  const live = new Set<string>()
  let now = 0
  const memory = OrderMemory.make({ now: () => now, isLive: (legId: LegId) => live.has(legId) })
  return {
    live,
    memory,
    pass: (ms: number) => void (now += ms),
    admits: (commandId: CommandId, epoch = 1, legId = Ids.leg("leg"), partition = 0) =>
      memory.admits({ partition, epoch }, legId, commandId)
  }
}

describe("What a carrier remembers of its legs", () => {
  it("a command is taken once for each leg", () => {
    const { admits } = make()
    expect([
      admits(Ids.command("a")),
      admits(Ids.command("b")),
      admits(Ids.command("a")),
      admits(Ids.command("a"), 1, Ids.leg("other leg"))
    ]).toStrictEqual(["yes", "yes", "no", "yes"])
  })

  it("an owner that was replaced commands nothing more in its partition", () => {
    const { admits, memory } = make()
    expect(admits(Ids.command("a"), 3)).toBe("yes")
    expect(memory.obey({ partition: 0, epoch: 4 })).toBe(true)
    expect(admits(Ids.command("b"), 3)).toBe("no")
    expect(admits(Ids.command("b"), 4)).toBe("yes")
    expect(admits(Ids.command("c"), 3, Ids.leg("leg"), 1)).toBe("yes")
    expect(memory.obey({ partition: 0, epoch: 3 })).toBe(false)
  })

  it("events of a leg are counted from one, each leg for itself", () => {
    const { memory } = make()
    expect([
      memory.next(Ids.leg("a"), false),
      memory.next(Ids.leg("a"), false),
      memory.next(Ids.leg("b"), false)
    ]).toStrictEqual([1, 2, 1])
    expect([memory.last(Ids.leg("a")), memory.last(Ids.leg("nobody"))]).toStrictEqual([2, 0])
  })

  it("a leg that is over is forgotten after a while, one that lives is not", () => {
    const { admits, live, memory, pass } = make()
    live.add("long")
    admits(Ids.command("a"), 1, Ids.leg("long"))
    admits(Ids.command("a"), 1, Ids.leg("short"))
    memory.next(Ids.leg("long"), false)
    pass(OrderMemory.keepMs - 1)
    expect(admits(Ids.command("a"), 1, Ids.leg("short"))).toBe("no")
    pass(OrderMemory.keepMs)
    admits(Ids.command("b"), 1, Ids.leg("other"))
    expect(admits(Ids.command("a"), 1, Ids.leg("long"))).toBe("no")
    expect(memory.next(Ids.leg("long"), false)).toBe(2)
    expect(admits(Ids.command("a"), 1, Ids.leg("short"))).toBe("yes")
  })

  it("what comes for a leg whose end was told is said to be over, once, until it is forgotten", () => {
    const { admits, memory, pass } = make()
    memory.next(Ids.leg("leg"), true)
    expect([admits(Ids.command("a")), admits(Ids.command("a"))]).toStrictEqual(["over", "no"])
    pass(2 * OrderMemory.keepMs)
    expect(admits(Ids.command("a"))).toBe("yes")
  })

  it("keeps so many commands of a leg, the oldest go", () => {
    const { admits } = make()
    for (let count = 0; count <= OrderMemory.idCapacity; count++) admits(Ids.command(`command ${count}`))
    expect(admits(Ids.command("command 1"))).toBe("no")
    expect(admits(Ids.command("command 0"))).toBe("yes")
  })
})
