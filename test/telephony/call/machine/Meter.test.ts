import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Meter from "../../../../src/telephony/call/machine/Meter.ts"
import * as Ids from "../../../support/Ids.ts"

const leg = { id: Ids.leg("svc_leg_1"), direction: "outbound" } as const
const second = { id: Ids.leg("svc_leg_2"), direction: "outbound" } as const
const minute = 60_000
const many = 1_000

describe("The meters of a call", () => {
  it("a leg that was never answered costs nothing", () =>
    expect(Meter.chargeCents(Meter.ended([Meter.ofLeg(leg, { microUsdPerMinute: 10_000 }, many)], minute))).toBe(0))

  it("each leg is charged from its own answer, at its own rate, and the sum is rounded up once", () => {
    const meters = [
      Meter.ofLeg(leg, { microUsdPerMinute: 4_000 }, many),
      Meter.ofLeg(second, { microUsdPerMinute: 7_000 }, many)
    ]
    const both = Meter.answered(Meter.answered(meters, leg.id, 0), second.id, 90_000)
    // 3 started minutes at 0.4 cents, 2 at 0.7: 2.6 cents.
    expect(Meter.chargeCents(Meter.ended(both, 2 * minute + 90_001 - 60_000))).toBe(3)
  })

  it("a leg that has ended stays as it was: neither its answer nor its end comes twice", () => {
    const ended = Meter.ended(
      Meter.answered([Meter.ofLeg(leg, { microUsdPerMinute: 10_000 }, many)], leg.id, 0),
      minute
    )
    expect(Meter.ended(Meter.answered(ended, leg.id, 5 * minute), 9 * minute)).toStrictEqual(ended)
    expect(Meter.chargeCents(ended)).toBe(1)
  })

  it("minutes that nobody reserved are not charged", () => {
    const meters = Meter.answered([Meter.ofLeg(leg, { microUsdPerMinute: 10_000 }, 2)], leg.id, 0)
    expect(Meter.chargeCents(Meter.ended(meters, 2 * minute))).toBe(2)
    expect(Meter.chargeCents(Meter.ended(meters, 9 * minute))).toBe(2)
  })

  it("at most, the meters cost what each may run for, and an ended one what it came to", () => {
    const [first, other] = [
      Meter.ofLeg(leg, { microUsdPerMinute: 15_000 }, 1),
      Meter.ofLeg(second, { microUsdPerMinute: 6_000 }, 1)
    ]
    expect(Meter.mostCents([first, other], () => 1)).toBe(3)
    expect(Meter.mostCents([first, other], () => 10)).toBe(21)
    expect(Meter.mostCents([first, { ...other, startedAt: 0, endedAt: 1 }], () => 10)).toBe(16)
    expect(Meter.mostCents([], () => 1)).toBe(0)
  })

  const bySecond = { firstSecs: 1, stepSecs: 1, connectionFeeMicroUsd: 0, minimumMicroUsd: 0 }
  it("a leg is charged by its own increments, with its fee and its minimum, and shows its billed seconds", () => {
    const answered = (increments: typeof bySecond, reserved = many) =>
      Meter.answered([Meter.ofLeg(leg, { microUsdPerMinute: 600_000, increments }, reserved)], leg.id, 0)
    const after = (ms: number, increments: Partial<typeof bySecond>, reserved = many) => {
      const meters = Meter.ended(answered({ ...bySecond, ...increments }, reserved), ms)
      return [Meter.chargeCents(meters), Meter.billedSecs(meters, "leg"), Meter.minutes(meters, "leg")]
    }
    expect(after(7_000, {})).toStrictEqual([7, 7, 1])
    expect(after(31_000, { firstSecs: 30, stepSecs: 6 })).toStrictEqual([36, 36, 1])
    expect(after(61_000, { connectionFeeMicroUsd: 25_000 })).toStrictEqual([64, 61, 2])
    expect(after(1_000, { minimumMicroUsd: 90_000 })).toStrictEqual([9, 1, 1])
    expect(after(0, { connectionFeeMicroUsd: 25_000 })).toStrictEqual([0, 0, 0])
    // Not more than was reserved: five seconds.
    expect(after(9_000, {}, 5)).toStrictEqual([5, 5, 1])
    expect(Meter.mostCents(answered(bySecond), () => 5)).toBe(5)
  })

  it("a leg that costs only its connection is charged for that, and shows all of its seconds", () => {
    const price = { microUsdPerMinute: 0, increments: { ...bySecond, connectionFeeMicroUsd: 25_000 } }
    const meters = Meter.ended(Meter.answered([Meter.ofLeg(leg, price, 60)], leg.id, 0), 3 * minute)
    expect([Meter.chargeCents(meters), Meter.billedSecs(meters, "leg")]).toStrictEqual([3, 180])
  })

  it("a leg that a plan covers in part costs as much as one of the rest, and nothing when it is covered", () => {
    const price = {
      microUsdPerMinute: 600_000,
      increments: { ...bySecond, stepSecs: 6, connectionFeeMicroUsd: 25_000 }
    }
    const meters = Meter.ended(Meter.answered([Meter.ofLeg(leg, price, many)], leg.id, 0), 150_000)
    const [part] = Meter.charged(meters, "call_charge")
    expect(part?.quantity).toBe(3)
    // 151 s are billed; a minute less is 91 s.
    expect([0, 1, 2, 3].map((covered) => part?.restMicroUsd(covered))).toStrictEqual([1_535_000, 935_000, 335_000, 0])
  })

  const Ms = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))
  const Rate = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  it.prop(
    "the bill is never below the minutes that were used, and less than one started minute and a cent above",
    { ms: Ms, rate: Rate },
    ({ ms, rate }) => {
      const cents = Meter.chargeCents(
        Meter.ended(Meter.answered([Meter.ofLeg(leg, { microUsdPerMinute: rate }, many)], leg.id, 7), 7 + ms)
      )
      const exact = (ms / minute) * (rate / 10_000)
      expect(cents).toBeGreaterThanOrEqual(exact)
      expect(cents).toBeLessThan(exact + rate / 10_000 + 1)
    }
  )
})
