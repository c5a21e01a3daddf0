import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { CarrierEvent, LegReport, Told } from "../../../../src/carrier/Carrier.ts"
import * as LegEvents from "../../../../src/carrier/sip/leg/LegEvents.ts"
import { digits } from "../../../../src/domain/fair/Policies.ts"
import * as Ids from "../../../support/Ids.ts"

const digit = (name: string): LegReport => ({ type: "media", event: { type: "dtmf", digit: name, at: 0 } })
const ended: LegReport = { type: "ended", cause: "hangup", sipStatus: null, by: "far" }
const nth = (n: number, report: LegReport): CarrierEvent => ({
  legId: Ids.leg("l"),
  at: 0,
  incarnation: "i",
  n,
  ...report
})

/** A sink whose commits the test lets through one by one. */
const make = () => {
  const told: Array<CarrierEvent> = []
  const commits: Array<(answer: Told | "died") => void> = []
  const run: LegEvents.Run = (effect, settled) => {
    Effect.runSync(effect as Effect.Effect<never>)
    commits.push((answer) => settled((answer === "died" ? Exit.die("no") : Exit.succeed(answer)) as Exit.Exit<never>))
  }
  let n = 0
  const sink = {
    offer: () => Effect.die("unused"),
    tell: (_callId: string, event: CarrierEvent) =>
      Effect.sync((): Told => {
        told.push(event)
        return "committed"
      })
  }
  const legEvents = LegEvents.make({ run, sink, incarnation: "i", memory: { next: () => ++n } }, Ids.leg("l"))
  const tell = (report: LegReport, done?: (told: Told) => void, at = 0) =>
    legEvents.tell(Ids.call("c"), at, report, done)
  return { tell, legEvents, told, commit: (answer: Told | "died" = "committed") => commits.shift()?.(answer) }
}

describe("the reports of a leg", () => {
  it("tell one event after the other, numbered, each when the one before is through", () => {
    const { commit, tell, told } = make()
    tell(digit("1"))
    tell(digit("2"))
    expect(told).toEqual([nth(1, digit("1"))])
    commit()
    expect(told).toEqual([nth(1, digit("1")), nth(2, digit("2"))])
  })

  it("keep their order when the end of one asks for another", () => {
    const { commit, tell, told } = make()
    tell(digit("1"), () => tell(digit("3")))
    tell(digit("2"))
    commit()
    expect(told).toEqual([nth(1, digit("1")), nth(2, digit("2"))])
    commit()
    expect(told).toEqual([nth(1, digit("1")), nth(2, digit("2")), nth(3, digit("3"))])
  })

  it("say what became of an event, and go on", () => {
    const { commit, tell, told } = make()
    const outcomes: Array<Told> = []
    for (let count = 0; count < 4; count++) tell(digit("1"), (answer) => outcomes.push(answer))
    for (const answer of ["died", "fault", "unknown", "committed"] as const) commit(answer)
    expect(outcomes).toEqual(["fault", "fault", "unknown", "committed"])
    expect(told).toHaveLength(4)
  })

  it("drop digits beyond their bound, but never the end; what is dropped has no number", () => {
    const { commit, tell, told } = make()
    for (let count = 0; count < LegEvents.maxWaiting + 50; count++) tell(digit("1"), undefined, count * digits.everyMs)
    tell(ended)
    for (let count = 0; count < LegEvents.maxWaiting + 60; count++) commit()
    expect(told).toHaveLength(LegEvents.maxWaiting + 1)
    expect(told.at(-1)).toEqual(nth(LegEvents.maxWaiting + 1, ended))
  })

  it("drop digits that come faster than anybody presses them, and go on with those that do not", () => {
    const { commit, tell, told } = make()
    const outcomes: Array<Told> = []
    const flood = (at: number) => {
      for (let count = 0; count < 1000; count++) {
        tell(digit("1"), (answer) => outcomes.push(answer), at)
        commit()
      }
      return told.length
    }
    expect(flood(0)).toBe(digits.burst)
    expect(outcomes.filter((outcome) => outcome === "fault")).toHaveLength(1000 - digits.burst)
    expect(flood(1000)).toBe(digits.burst + 25)
    tell(ended, undefined, 1000)
    expect(told.at(-1)?.type).toBe("ended")
  })

  it("say when all that was told until now is through, and not of what comes later", () => {
    const { commit, legEvents, tell } = make()
    const said: Array<string> = []
    legEvents.caughtUp(() => said.push("nothing told"))
    tell(digit("1"))
    legEvents.caughtUp(() => said.push("one"))
    tell(digit("2"))
    expect(said).toEqual(["nothing told"])
    commit()
    expect(said).toEqual(["nothing told", "one"])
  })
})
