import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { LegEnd } from "../../../src/carrier/Carrier.ts"
import * as PhoneScript from "../../../src/carrier/simulator/PhoneScript.ts"
import * as SimulatedLeg from "../../../src/carrier/simulator/SimulatedLeg.ts"

type Direction = SimulatedLeg.SimulatedLeg["direction"]

const inputs: Readonly<Record<string, SimulatedLeg.Input>> = {
  ring: { type: "ring" },
  answer: { type: "answer" },
  reject: { type: "reject", cause: "user_busy" },
  hangup: { type: "hangup" },
  "far rings": { type: "far", act: { type: "rings" } },
  "far answers": { type: "far", act: { type: "answers" } },
  "far ends": { type: "far", act: { type: "ends", end: { cause: "hangup", sipStatus: null, by: "far" } } },
  due: { type: "due" },
  fault: { type: "fault" }
}
const input = Schema.Literals(Object.keys(inputs))

const words = (outcomes: ReadonlyArray<SimulatedLeg.Outcome>) =>
  outcomes.map((outcome) => {
    if (outcome.type === "over") return `over: ${outcome.end.cause} ${outcome.end.sipStatus} ${outcome.end.by}`
    return outcome.type === "pass" ? `pass: ${outcome.act.type}` : outcome.type
  })

const after = (direction: Direction, names: ReadonlyArray<string>) => {
  let leg = SimulatedLeg.make(direction, null, 0)
  const outcomes: Array<SimulatedLeg.Outcome> = []
  for (const name of names) {
    const next = inputs[name]
    expect.assert(next !== undefined)
    const stepped = SimulatedLeg.step(leg, next, 0)
    leg = stepped.leg
    outcomes.push(...stepped.outcomes)
  }
  return { leg, outcomes }
}

describe("A simulated leg", () => {
  const rows: ReadonlyArray<readonly [Direction, string, ...ReadonlyArray<string>]> = [
    ["outbound", "far rings", "ringing"],
    ["outbound", "far rings, far rings", "ringing"],
    ["outbound", "far answers", "talk"],
    ["outbound", "far answers, far rings, far answers", "talk"],
    ["outbound", "ring, answer, due"],
    ["outbound", "hangup", "pass: ends", "over: cancelled 487 near"],
    ["outbound", "far rings, far ends", "ringing", "over: hangup null far"],
    ["outbound", "far answers, hangup", "talk", "pass: ends", "over: hangup null near"],
    ["outbound", "far answers, far ends, hangup", "talk", "over: hangup null far"],
    ["outbound", "far answers, fault", "talk", "pass: ends", "over: error null network"],
    ["inbound", "ring", "pass: rings"],
    ["inbound", "answer", "talk", "pass: answers"],
    ["inbound", "answer, answer, ring", "talk", "pass: answers"],
    ["inbound", "far rings, far answers, due"],
    ["inbound", "reject", "pass: ends", "over: final_response 486 near"],
    ["inbound", "hangup", "pass: ends", "over: final_response 480 near"],
    ["inbound", "answer, reject", "talk", "pass: answers", "pass: ends", "over: hangup null near"],
    ["inbound", "far ends, answer", "over: hangup null far"]
  ]
  for (const [direction, names, ...expected] of rows)
    it(`${direction}: ${names} gives ${expected.join("; ") || "nothing"}`, () => {
      expect(words(after(direction, names.split(", ")).outcomes)).toStrictEqual(expected)
    })

  it.prop(
    "is over once and says nothing afterwards, whatever happens to it",
    { direction: Schema.Literals(["outbound", "inbound"]), names: Schema.Array(input) },
    ({ direction, names }) => {
      const { leg, outcomes } = after(direction, names)
      const said = outcomes.map(({ type }) => type)
      expect(said.filter((type) => type === "over").length).toBeLessThanOrEqual(1)
      expect(said.includes("over")).toBe(leg.phase === "over")
      if (leg.phase === "over") expect(said.at(-1)).toBe("over")
      const gone = names.some(
        (name) => name === "hangup" || name === "reject" || name === "fault" || name === "far ends"
      )
      if (gone) expect(leg.phase).toBe("over")
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "and the leg it is joined to end as mirror images",
    {
      steps: Schema.Array(
        Schema.Tuple([Schema.Literals(["a", "b"]), Schema.Literals(["ring", "answer", "reject", "hangup", "fault"])])
      )
    },
    ({ steps }) => {
      const legs = { a: SimulatedLeg.make("outbound", null, 0), b: SimulatedLeg.make("inbound", null, 0) }
      const ends: { a?: LegEnd; b?: LegEnd } = {}
      const step = (name: "a" | "b", next: SimulatedLeg.Input): void => {
        const { leg, outcomes } = SimulatedLeg.step(legs[name], next, 0)
        legs[name] = leg
        for (const outcome of outcomes) {
          if (outcome.type === "over") ends[name] = outcome.end
          if (outcome.type === "pass") step(name === "a" ? "b" : "a", { type: "far", act: outcome.act })
        }
      }
      for (const [name, type] of steps) step(name, inputs[type] ?? { type: "fault" })
      expect(legs.a.phase).toBe(legs.b.phase)
      const other = { near: "far", far: "near", network: "network" } as const
      if (ends.a !== undefined) expect(ends.b).toStrictEqual({ ...ends.a, by: other[ends.a.by] })
    },
    { arbitrary: { runs: 500 } }
  )

  it("does the acts of its phone when they are due, and those of the answer from then on", () => {
    const script = PhoneScript.ofNumber("+12025550106")
    let leg = SimulatedLeg.make("outbound", script, 1000)
    const due = (now: number) => {
      const stepped = SimulatedLeg.step(leg, { type: "due" }, now)
      leg = stepped.leg
      return words(stepped.outcomes)
    }
    expect(due(1199)).toStrictEqual([])
    expect(due(1200)).toStrictEqual(["ringing"])
    expect(due(1999)).toStrictEqual([])
    expect(due(2300)).toStrictEqual(["talk"])
    expect(due(7299)).toStrictEqual([])
    expect(due(7300)).toStrictEqual(["over: hangup null far"])
  })

  it("of a caller that gave up before the answer never talks", () => {
    let { leg } = SimulatedLeg.step(SimulatedLeg.make("inbound", PhoneScript.caller, 0), { type: "due" }, 60_000)
    expect(leg.phase).toBe("over")
    leg = SimulatedLeg.step(leg, { type: "answer" }, 60_001).leg
    expect(leg.phase).toBe("over")
  })
})

describe("Scripts of simulated phones", () => {
  it("there are twenty-seven, from …0100 to …0126, with their acts in order", () => {
    for (let last = 0; last < 50; last++) {
      const script = PhoneScript.ofNumber(`+120255501${String(last).padStart(2, "0")}`)
      expect(script !== null).toBe(last <= 26)
      for (const steps of [script?.alerting ?? [], script?.talking ?? []]) {
        const offsets = steps.map(({ afterMs }) => afterMs)
        expect(offsets).toStrictEqual(offsets.toSorted((a, b) => a - b))
      }
    }
  })
})
