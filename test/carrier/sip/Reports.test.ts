import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { CarrierEvent } from "../../../src/carrier/Carrier.ts"
import * as Reports from "../../../src/carrier/sip/Reports.ts"

const digit = (name: string): CarrierEvent => ({
  legId: "l",
  at: 0,
  type: "media",
  event: { type: "dtmf", digit: name, at: 0 }
})
const ended: CarrierEvent = { legId: "l", at: 0, type: "ended", cause: "hangup", sipStatus: null, by: "far" }

/** A sink whose commits the test lets through one by one. */
const make = () => {
  const told: Array<CarrierEvent> = []
  const commits: Array<(committed: boolean) => void> = []
  const run: Reports.Run = (effect, settled) => {
    const exit = Effect.runSyncExit(effect)
    commits.push((committed) => settled(committed ? exit : Exit.die("no")))
  }
  const reports = Reports.make(run, {
    offer: () => Effect.die("unused"),
    tell: (_, event) => Effect.sync(() => void told.push(event))
  })
  return { reports, told, commit: (committed = true) => commits.shift()?.(committed) }
}

describe("the reports of a leg", () => {
  it("tell one event after the other, each when the one before is committed", () => {
    const { commit, reports, told } = make()
    reports.tell("c", digit("1"))
    reports.tell("c", digit("2"))
    expect(told).toEqual([digit("1")])
    commit()
    expect(told).toEqual([digit("1"), digit("2")])
  })

  it("keep their order when the end of one asks for another", () => {
    const { commit, reports, told } = make()
    reports.tell("c", digit("1"), () => reports.tell("c", digit("3")))
    reports.tell("c", digit("2"))
    commit()
    expect(told).toEqual([digit("1"), digit("2")])
    commit()
    expect(told).toEqual([digit("1"), digit("2"), digit("3")])
  })

  it("say when the sink died of an event, and go on", () => {
    const { commit, reports, told } = make()
    const outcomes: Array<boolean> = []
    reports.tell("c", digit("1"), (committed) => outcomes.push(committed))
    reports.tell("c", digit("2"), (committed) => outcomes.push(committed))
    commit(false)
    commit(true)
    expect(outcomes).toEqual([false, true])
    expect(told).toHaveLength(2)
  })

  it("drop digits beyond their bound, but never the end", () => {
    const { commit, reports, told } = make()
    for (let count = 0; count < Reports.maxWaiting + 50; count++) reports.tell("c", digit("1"))
    reports.tell("c", ended)
    for (let count = 0; count < Reports.maxWaiting + 60; count++) commit()
    expect(told).toHaveLength(Reports.maxWaiting + 1)
    expect(told.at(-1)).toEqual(ended)
  })
})
