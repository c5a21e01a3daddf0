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
    expect(Meter.chargeCents(Meter.ended([Meter.ofLeg(leg, 10_000, many)], minute))).toBe(0))

  it("each leg is charged from its own answer, at its own rate, and the sum is rounded up once", () => {
    const meters = [Meter.ofLeg(leg, 4_000, many), Meter.ofLeg(second, 7_000, many)]
    const both = Meter.answered(Meter.answered(meters, leg.id, 0), second.id, 90_000)
    // 3 started minutes at 0.4 cents, 2 at 0.7: 2.6 cents.
    expect(Meter.chargeCents(Meter.ended(both, 2 * minute + 90_001 - 60_000))).toBe(3)
  })

  it("a leg that has ended stays as it was: neither its answer nor its end comes twice", () => {
    const ended = Meter.ended(Meter.answered([Meter.ofLeg(leg, 10_000, many)], leg.id, 0), minute)
    expect(Meter.ended(Meter.answered(ended, leg.id, 5 * minute), 9 * minute)).toStrictEqual(ended)
    expect(Meter.chargeCents(ended)).toBe(1)
  })

  it("minutes that nobody reserved are not charged", () => {
    const meters = Meter.answered([Meter.ofLeg(leg, 10_000, 2)], leg.id, 0)
    expect(Meter.chargeCents(Meter.ended(meters, 2 * minute))).toBe(2)
    expect(Meter.chargeCents(Meter.ended(meters, 9 * minute))).toBe(2)
  })

  it("at most, the meters cost what each may run for, and an ended one what it came to", () => {
    const [first, other] = [Meter.ofLeg(leg, 15_000, 1), Meter.ofLeg(second, 6_000, 1)]
    expect(Meter.mostCents([first, other], () => 1)).toBe(3)
    expect(Meter.mostCents([first, other], () => 10)).toBe(21)
    expect(Meter.mostCents([first, { ...other, startedAt: 0, endedAt: 1 }], () => 10)).toBe(16)
    expect(Meter.mostCents([], () => 1)).toBe(0)
  })

  const Ms = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))
  const Rate = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  it.prop(
    "the bill is never below the minutes that were used, and less than one started minute and a cent above",
    { ms: Ms, rate: Rate },
    ({ ms, rate }) => {
      const cents = Meter.chargeCents(Meter.ended(Meter.answered([Meter.ofLeg(leg, rate, many)], leg.id, 7), 7 + ms))
      const exact = (ms / minute) * (rate / 10_000)
      expect(cents).toBeGreaterThanOrEqual(exact)
      expect(cents).toBeLessThan(exact + rate / 10_000 + 1)
    }
  )
})
