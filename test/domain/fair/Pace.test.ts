import { describe, expect, it } from "@effect/vitest"
import * as Pace from "../../../src/domain/fair/Pace.ts"

/** A pace whose turns of the event loop come from the test. */
const paced = () => {
  let waiting: ReadonlyArray<() => void> = []
  const pace = Pace.make((then) => {
    waiting = [...waiting, then]
  })
  const turn = () => {
    const due = waiting
    waiting = []
    for (const then of due) then()
    return due.length
  }
  return { pace, turn }
}

describe("The pace of long bodies", () => {
  it("lets one be read in each turn of the event loop, and asks for no turn when none wants to be", () => {
    const { pace, turn } = paced()
    const read: Array<string> = []
    for (const name of ["a", "b", "c"]) pace.ask("tenant", () => read.push(name))
    expect(read).toEqual([])
    turn()
    expect(read).toEqual(["a"])
    turn()
    turn()
    expect(read).toEqual(["a", "b", "c"])
    expect(turn()).toBe(0)
  })

  it("shares the turns by what holders have read, and not by how many bodies they have", () => {
    const { pace, turn } = paced()
    const read = { loud: 0, quiet: 0 }
    const again = (holder: "loud" | "quiet", bytes: number): void => {
      pace.ask(holder, () => {
        read[holder] += bytes
        again(holder, bytes)
        return bytes
      })
    }
    for (let n = 0; n < 16; n++) again("loud", 65_536)
    again("quiet", 65_536)
    for (let n = 0; n < 100; n++) turn()
    expect(Math.abs(read.loud - read.quiet)).toBeLessThanOrEqual(65_536)
  })

  it("does not read for who has left", () => {
    const { pace, turn } = paced()
    const read: Array<string> = []
    const leave = pace.ask("tenant", () => read.push("gone"))
    pace.ask("tenant", () => read.push("there"))
    leave()
    turn()
    turn()
    expect(read).toEqual(["there"])
  })
})
