import { describe, expect, it } from "@effect/vitest"
import * as ConnectionTurns from "../../../../src/edge/http/connection/ConnectionTurns.ts"

/** An event loop whose turns pass on the test's command. */
const loop = () => {
  let next: Array<() => void> = []
  return {
    nextTurn: (then: () => void) => void next.push(then),
    pass: () => {
      const due = next
      next = []
      for (const then of due) then()
      return due.length > 0
    }
  }
}

describe("Connections that are worked for", () => {
  it("begin a few in each turn of the event loop; a thousand of one site do not delay another's beyond the next", () => {
    const { nextTurn, pass } = loop()
    const turns = ConnectionTurns.make(64, nextTurn)
    const started: Array<string> = []
    for (let n = 0; n < 1_000; n++) turns.take("loud", "connection", () => started.push("loud"))
    expect(started).toEqual(["loud", "loud"])
    turns.take("quiet", "connection", () => started.push("quiet"))
    pass()
    expect(started).toEqual(["loud", "loud", "quiet", "loud"])
  })

  it("begin with sixteen requests in a turn of the event loop, as many as are looked up and committed together", () => {
    const { nextTurn, pass } = loop()
    const turns = ConnectionTurns.make(256, nextTurn)
    const started: Array<string> = []
    for (let n = 0; n < 100; n++) turns.take("loud", "request", () => started.push("loud"))
    expect(started).toHaveLength(16)
    turns.take("quiet", "request", () => started.push("quiet"))
    pass()
    expect(started).toHaveLength(32)
    expect(started[16]).toBe("quiet")
  })

  it("leave places for sites that come later, and the next begins when one has left", () => {
    const { nextTurn, pass } = loop()
    const turns = ConnectionTurns.make(8, nextTurn)
    const started: Array<string> = []
    const loud = Array.from({ length: 10 }, (_, n) => turns.take("loud", "connection", () => started.push(`loud ${n}`)))
    while (pass());
    expect(started).toEqual(["loud 0", "loud 1", "loud 2", "loud 3", "loud 4"])
    expect(loud.map((turn) => turn.hasPlace()).lastIndexOf(true)).toBe(4)
    turns.take("quiet", "connection", () => started.push("quiet"))
    expect(started.at(-1)).toBe("quiet")
    // A waiting one leaves, twice; then one that has a place.
    for (const n of [5, 5, 0]) loud[n]?.leave()
    while (pass());
    expect(started.slice(6)).toEqual([])
    loud[1]?.leave()
    while (pass());
    expect(started.slice(6)).toEqual(["loud 6"])
  })
})
