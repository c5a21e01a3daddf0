import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CallInput } from "../../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import * as Reservation from "../../../../src/telephony/call/machine/Reservation.ts"
import * as Increments from "../../../../src/domain/price/Increments.ts"
import * as Money from "../../../../src/domain/Money.ts"
import * as Purpose from "../../../../src/money/account/Purpose.ts"
import { decodeAction } from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as Random from "../../../support/Random.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000
const minute = 60_000

/** A call at 20 dollars a minute that reserved one minute, answered at `t0`. */
const talking = (fields: Parameters<typeof Sample.terms>[0] = {}) =>
  Sample.carrier(
    Sample.start(
      {
        ...(Sample.place() as Extract<CallInput, { type: "place" }>),
        terms: Sample.terms({ microUsdPerMinute: 20_000_000, reservedMinutes: 1, ...fields })
      },
      t0
    ),
    { type: "answered", resume: null },
    t0
  )
const ended = ({ state }: Sample.Scene) => `${state.status} ${state.endReason} ${state.endInitiator}`
const renew = (scene: Sample.Scene, minutes: number | null, at: number) =>
  Sample.send(scene, { type: "renewal", reservedMinutes: minutes === null ? null : [minutes] }, at)

describe("What a call reserves, guide/money.md#reservations", () => {
  it("is its first minute; the next one is asked for 15 seconds before it begins", () => {
    const scene = talking()
    expect(Reservation.live(scene.state)?.reservedCents).toBe(2_000)
    expect(CallMachine.nextDeadline(scene.state)).toStrictEqual({
      at: t0 + 45_000,
      input: { type: "renewal", reservedMinutes: null }
    })
    expect(Reservation.offers(scene.state, t0 + 45_000)[0]).toStrictEqual({ cents: 4_000, minutes: [2] })
    const renewed = renew(scene, 2, t0 + 45_000)
    expect(renewed.effects.at(-1)).toStrictEqual({ events: [], commands: [], rows: [], charges: [], tells: [] })
    expect(CallMachine.nextDeadline(renewed.state)?.at).toBe(t0 + 105_000)
  })

  it("nothing asked again brings nothing: a call that is not answered, costs nothing or lasts no longer renews nothing", () => {
    const ringing = Sample.start(
      { ...(Sample.place() as Extract<CallInput, { type: "place" }>), terms: Sample.terms({ reservedMinutes: 1 }) },
      t0
    )
    for (const { state } of [
      ringing,
      talking({ microUsdPerMinute: 0 }),
      talking({ limit: { afterSecs: 60, reason: "time_limit" } })
    ])
      expect(Reservation.renewsAt(state)).toBe(null)
    expect(Sample.last(renew(ringing, 5, t0 + 50_000))).toBe("unchanged")
    expect(Sample.last(renew(talking(), 5, t0 + 44_999))).toBe("unchanged")
  })

  it.each(["daily_spend_cap", "monthly_spend_cap", "account_unanswered", "balance_exhausted"] as const)(
    "that is refused for %s ends for that, in its event too; a renewal in between forgets it",
    (refusal) => {
      let scene = talking()
      for (let next = CallMachine.nextDeadline(scene.state); next?.input.type === "renewal";) {
        scene = Sample.send(scene, { type: "renewal", reservedMinutes: null, refusal }, next.at)
        next = CallMachine.nextDeadline(scene.state)
      }
      const over = Sample.wait(Sample.wait(scene))
      expect(ended(over)).toBe("ended balance_exhausted system")
      expect(Sample.events(over).at(-1)).toMatchObject({ type: "call.ended", data: { why: { code: refusal } } })
      const first = Sample.send(talking(), { type: "renewal", reservedMinutes: null, refusal }, t0 + 45_000)
      expect(first.state.renewalRefusal).toBe(refusal)
      expect(renew(first, 5, t0 + 50_000).state).not.toHaveProperty("renewalRefusal")
    }
  )

  it("without an answer, or refused, it asks again until its reserved end, and is over then", () => {
    let scene = talking()
    const asked: Array<number> = []
    while (CallMachine.nextDeadline(scene.state)?.input.type === "renewal") {
      asked.push((CallMachine.nextDeadline(scene.state)?.at ?? 0) - t0)
      scene = Sample.wait(scene)
    }
    expect(asked).toStrictEqual([45_000, 50_000, 55_000])
    const over = Sample.wait(scene)
    expect(ended(over)).toBe("ended balance_exhausted system")
    expect([over.state.endedAt, over.state.costCents]).toStrictEqual([t0 + minute, 2_000])
    expect(Sample.types(Sample.wait(over)).at(-1)).toBe("call.ended")
  })

  describe("by the second", () => {
    /** 20 dollars a minute are a cent for each 30 ms; a second is 34 cents, rounded up once. */
    const bySecond = { firstSecs: 1, stepSecs: 1, connectionFeeMicroUsd: 0, minimumMicroUsd: 0 }
    const seconds = (increments: Partial<typeof bySecond> = {}) =>
      talking({ microUsdPerMinute: 20_000_000, increments: { ...bySecond, ...increments } })

    it("reserves its first minute in its increments, and renews 15 seconds before their end", () => {
      const { state } = seconds()
      expect(state.meters[0]?.reservedMinutes).toBe(60)
      expect(Reservation.live(state)?.reservedCents).toBe(2_000)
      expect(CallMachine.nextDeadline(state)?.at).toBe(t0 + 45_000)
      expect(Reservation.offers(state, t0 + 45_000)[0]).toStrictEqual({ cents: 4_000, minutes: [120] })
    })

    it("with first seconds beyond a minute, reserves those, with its fee", () => {
      const { state } = seconds({ firstSecs: 300, stepSecs: 60, connectionFeeMicroUsd: 50_000 })
      expect(Reservation.live(state)?.reservedCents).toBe(10_005)
      expect(CallMachine.nextDeadline(state)?.at).toBe(t0 + 285_000)
      expect(Reservation.offers(state, t0 + 285_000)[0]).toStrictEqual({ cents: 12_005, minutes: [2] })
    })

    it("lasts as long as its minimum pays for before it asks for more", () => {
      const { state } = seconds({ minimumMicroUsd: 50_000_000 })
      expect(Reservation.live(state)?.reservedCents).toBe(5_000)
      expect(Reservation.endsAt(state)).toBe(t0 + 150_000)
    })

    it("offers less than the next minute where an account cannot pay for one, down to one increment", () => {
      const { state } = seconds()
      const smaller = Reservation.smallerOffers(state, t0 + 45_000)
      expect(smaller[0]).toStrictEqual({ cents: 2_034, minutes: [61] })
      expect(smaller.at(-1)).toStrictEqual({ cents: 3_967, minutes: [119] })
      expect(smaller.length).toBe(59)
      const six = seconds({ firstSecs: 30, stepSecs: 6 }).state
      expect(Reservation.smallerOffers(six, t0 + 45_000)[0]).toStrictEqual({ cents: 2_200, minutes: [7] })
      // By the minute there is nothing between, and what has run beyond its end asks for all of it.
      expect(Reservation.smallerOffers(talking().state, t0 + 45_000)).toStrictEqual([])
      expect(Reservation.smallerOffers(state, t0 + 60_000)).toStrictEqual([])
    })

    it("is cut off at the second that was reserved, and charged for those seconds", () => {
      const granted = Sample.send(seconds(), { type: "renewal", reservedMinutes: [75] }, t0 + 45_000)
      let scene = granted
      while (CallMachine.nextDeadline(scene.state)?.input.type === "renewal") scene = Sample.wait(scene)
      const over = Sample.wait(scene)
      expect(ended(over)).toBe("ended balance_exhausted system")
      expect([over.state.endedAt, over.state.costCents]).toStrictEqual([t0 + 75_000, 2_500])
    })

    const upTo = (maximum: number, minimum = 0) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
    it.prop(
      "a call lasts for every increment that the balance pays for, and for no further one",
      {
        firstSecs: upTo(90, 1),
        stepSecs: upTo(90, 1),
        connectionFeeMicroUsd: upTo(30_000),
        minimumMicroUsd: upTo(90_000),
        microUsdPerMinute: upTo(3_000_000, 30_000),
        moreCents: upTo(900)
      },
      ({ microUsdPerMinute, moreCents, ...increments }) => {
        const price = { microUsdPerMinute, increments }
        let scene = talking({ ...price, limit: { afterSecs: 86_400, reason: "time_limit" } })
        const balance = (Reservation.live(scene.state)?.reservedCents ?? 0) + moreCents
        const facts: Purpose.Facts = {
          isActive: true,
          fundsCents: balance,
          rechargeFailed: false,
          freeCents: balance,
          dayLeftCents: Infinity,
          monthLeftCents: Infinity,
          placesLeft: 1
        }
        let renewals = 0
        while (scene.state.status === "answered") {
          const next = CallMachine.nextDeadline(scene.state)
          expect.assert(next !== null)
          if (next.input.type !== "renewal") scene = Sample.wait(scene)
          else {
            const [offers, smaller] = [
              Reservation.offers(scene.state, next.at),
              Reservation.smallerOffers(scene.state, next.at)
            ]
            const [least, ...more] = offers.map(({ cents }) => cents)
            const judged = Purpose.judge(
              "renewal",
              [least ?? 0, ...more],
              facts,
              smaller.map(({ cents }) => cents)
            )
            const granted =
              typeof judged === "string"
                ? undefined
                : [...smaller, ...offers].findLast(({ cents }) => cents <= judged.reservedCents)
            const reservedMinutes = granted?.minutes ?? null
            scene = Sample.send(scene, { type: "renewal", reservedMinutes }, next.at)
            renewals++
          }
        }
        const [meter] = scene.state.meters
        expect(ended(scene)).toBe("ended balance_exhausted system")
        const count = meter?.reservedMinutes ?? 0
        expect(scene.state.endedAt).toBe(t0 + Increments.secsOf(price, count) * 1_000)
        const centsOf = (increments: number) => Money.centsFromMicro(Increments.microUsd(price, increments))
        expect([scene.state.costCents, centsOf(count) <= balance]).toStrictEqual([centsOf(count), true])
        expect(centsOf(count + 1)).toBeGreaterThan(balance)
        // One for each minute at most, some for the last seconds, and three that are refused.
        expect(renewals).toBeLessThan(Increments.secsOf(price, count) / 60 + 12)
      }
    )

    it("needs nothing more where only its connection costs", () => {
      const scene = talking({ microUsdPerMinute: 0, increments: { ...bySecond, connectionFeeMicroUsd: 50_000 } })
      expect(Reservation.live(scene.state)?.reservedCents).toBe(5)
      expect(Reservation.renewsAt(scene.state)).toBe(null)
      const over = Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, t0 + 90_000)
      expect(over.state.costCents).toBe(5)
    })
  })

  it("money that comes in time saves the call", () => {
    const scene = renew(Sample.wait(talking()), 2, t0 + 50_000)
    expect(scene.state.renewalRefusedAt).toBe(null)
    expect(CallMachine.nextDeadline(scene.state)?.at).toBe(t0 + 105_000)
  })

  it("an event that comes behind the reserved end of a refused call finds it ended there", () => {
    const refused = renew(talking(), null, t0 + 46_000)
    const late = Sample.carrier(
      refused,
      { type: "ended", cause: "hangup", sipStatus: null, by: "far" },
      t0 + 5 * minute
    )
    expect(ended(late)).toBe("ended balance_exhausted system")
    expect(late.state.costCents).toBe(2_000)
  })

  it("what runs beyond its reservation all the same is not charged for it", () => {
    const late = Sample.carrier(
      talking(),
      { type: "ended", cause: "hangup", sipStatus: null, by: "far" },
      t0 + 5 * minute
    )
    expect(ended(late)).toBe("ended normal_clearing callee")
    expect(late.state.costCents).toBe(2_000)
  })

  it("after an outage it asks for all that has passed", () =>
    expect(Reservation.offers(talking().state, t0 + 10 * minute)[0]).toStrictEqual({ cents: 22_000, minutes: [11] }))

  it("an inbound call reserves nothing while it rings, and its first minute from the request to answer it", () => {
    const offered = Sample.offered() as Extract<CallInput, { type: "offered" }>
    const scene = Sample.start(
      { ...offered, terms: Sample.terms({ microUsdPerMinute: 30_000, reservedMinutes: 0 }) },
      t0
    )
    expect(Reservation.live(scene.state)).toBe(null)
    expect(Reservation.offers(scene.state, t0)[0]).toStrictEqual({ cents: 3, minutes: [1] })
    const answering = Sample.send(
      scene,
      { type: "action", action: decodeAction("answer", {}), reservedMinutes: [1] },
      t0 + 1
    )
    expect(Reservation.live(answering.state)).toStrictEqual({ places: 1, reservedCents: 3, heard: 0 })
  })

  it.prop(
    "no call ever costs more than it had reserved before, whatever is refused, late or lost",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const increments = {
        firstSecs: 1 + random.below(90),
        stepSecs: 1 + random.below(90),
        connectionFeeMicroUsd: random.below(2) * random.below(900_000),
        minimumMicroUsd: random.below(2) * random.below(5_000_000)
      }
      let scene = talking({
        microUsdPerMinute: random.below(3_000_000),
        ...(random.chance(0.5) ? { increments } : {})
      })
      let reserved = Reservation.live(scene.state)?.reservedCents ?? 0
      let now = t0
      for (let move = 0; move < 40 && Reservation.live(scene.state) !== null; move++) {
        now += random.below(random.chance(0.2) ? 5 * minute : 20_000)
        const next = CallMachine.nextDeadline(scene.state)
        if (next !== null && next.at <= now && !random.chance(0.1)) {
          const offers = [...Reservation.smallerOffers(scene.state, now), ...Reservation.offers(scene.state, now)]
          scene =
            next.input.type === "renewal" && random.chance(0.7)
              ? Sample.send(
                  scene,
                  {
                    type: "renewal",
                    reservedMinutes: offers[random.below(offers.length)]?.minutes ?? null
                  },
                  now
                )
              : Sample.send(scene, next.input, now)
        } else {
          const move = random.below(10)
          if (move === 0)
            scene = Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, now)
          if (move === 1) scene = Sample.send(scene, Sample.recovered(scene, "gone", now), now)
          if (move === 2) scene = Sample.act(scene, "hangup", {}, now)
          if (move > 6) scene = Sample.dtmf(scene, "5", now)
        }
        reserved = Math.max(reserved, Reservation.live(scene.state)?.reservedCents ?? 0)
      }
      for (const effects of scene.effects) expect(Sample.charged(effects)).toBeLessThanOrEqual(reserved)
      expect(scene.effects.filter((effects) => effects.tells.length > 0).length).toBeLessThanOrEqual(1)
    }
  )
})
