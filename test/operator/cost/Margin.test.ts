import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Margin from "../../../src/operator/cost/Margin.ts"
import * as Sample from "../../call/CallSample.ts"

const [second, minute] = [1_000, 60_000]

/** A call that is answered after a second, and hung up so much later. */
const lasted = (ms: number) =>
  Sample.carrier(
    Sample.carrier(Sample.start(Sample.place(), 0), { type: "answered", resume: null }, second),
    { type: "ended", cause: "hangup", sipStatus: null, by: "far" },
    second + ms
  ).state

const metered = Schema.decodeUnknownSync(Margin.Metered)

describe("What calls cost the operator, guide/operation.md#costs-and-margin", () => {
  it("is each started minute of an answered leg, at its answer, by its trunk and number", () => {
    const asked: Array<unknown> = []
    const state = lasted(2 * minute + 1)
    const called = Margin.calledOf(metered(state), (...of) => {
      asked.push(of)
      return 7_001
    })
    expect(called).toEqual({ minutes: 3, costMicroUsd: 21_003 })
    expect(asked).toEqual([[state.routeId, "outbound", state.to, second]])
    expect(Margin.calledOf(metered(lasted(2 * minute)), () => 7_001).minutes).toBe(2)
  })

  it("is what the trunk counts, also beyond what was reserved and charged", () => {
    const { legs, meters, routeId } = lasted(minute)
    const longer = { routeId, legs, meters: meters.map((meter) => ({ ...meter, endedAt: second + 10 * minute })) }
    expect(Margin.calledOf(longer, () => 1)).toEqual({ minutes: 10, costMicroUsd: 10 })
  })

  it("is nothing of a call that nobody answered, and not known where one leg's is not", () => {
    expect(Margin.calledOf(metered(Sample.start(Sample.place(), 0).state), () => null)).toEqual({
      minutes: 0,
      costMicroUsd: 0
    })
    const { legs, meters, routeId } = lasted(minute)
    const two = { routeId, legs, meters: [...meters, ...meters.map((meter) => ({ ...meter, startedAt: 2 * second }))] }
    expect(Margin.calledOf(two, (_, __, ___, at) => (at === second ? 5 : null))).toEqual({
      minutes: 2,
      costMicroUsd: null
    })
  })

  it("stands beside what was charged: the sums of known ones apart, exact", () => {
    const known = Margin.added(Margin.none, 20_000, { minutes: 2, costMicroUsd: 9_001 })
    expect(Margin.added(known, 30_000, { minutes: 3, costMicroUsd: null })).toEqual({
      calls: 2,
      minutes: 5,
      debitedMicroUsd: 50_000,
      knownCalls: 1,
      knownDebitedMicroUsd: 20_000,
      costMicroUsd: 9_001
    })
  })
})
