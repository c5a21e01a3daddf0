import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NumberLife from "../../../src/numbers/number/NumberLife.ts"
import * as RenewalCalendar from "../../../src/numbers/number/renewal/RenewalCalendar.ts"
import * as Ids from "../../support/Ids.ts"

const day = 86_400_000
const at = (text: string) => Date.parse(text)
const t0 = at("2026-01-31T08:30:00.250Z")

const ordered: NumberLife.Life = {
  status: "pending",
  activatedAt: null,
  nextRenewalAt: null,
  unpaidSince: null,
  reminders: 0,
  unpaidSuspendedAt: null,
  operatorSuspendedAt: null,
  emergencyAddressId: null,
  emergencyEnabled: false,
  releasedAt: null,
  heldUntil: null,
  agedUntil: null,
  owedFrom: null,
  owedUntil: null
}

const taken = (life: NumberLife.Life, input: NumberLife.Input, now: number) => {
  const outcome = NumberLife.step(life, input, now)
  return outcome.type === "accepted" ? outcome.life : expect.unreachable(outcome.type)
}
const active = taken(ordered, { type: "activated" }, t0)
const anchored = { ...active, emergencyAddressId: Ids.address("svc_addr_1"), emergencyEnabled: true }
const release = { type: "released", by: "tenant", isHeld: true } as const
const take = { type: "released", by: "operator", isHeld: true } as const

describe("the days on which a number is due (guide/numbers.md#renewals)", () => {
  it("are those of its activation, and the last one of a month that has no such day", () => {
    const dues = [t0]
    while (dues.length < 14) dues.push(RenewalCalendar.after(t0, dues.at(-1) ?? 0))
    expect(dues.map((due) => new Date(due).toISOString())).toEqual(
      [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
        "2026-07-31",
        "2026-08-31",
        "2026-09-30",
        "2026-10-31",
        "2026-11-30",
        "2026-12-31",
        "2027-01-31",
        "2027-02-28"
      ].map((date) => `${date}T08:30:00.250Z`)
    )
    expect(RenewalCalendar.after(at("2027-11-30T00:00:00Z"), at("2028-01-30T00:00:00Z"))).toBe(
      at("2028-02-29T00:00:00Z")
    )
  })

  const moment = Schema.Int.check(Schema.isBetween({ minimum: at("2020-01-01Z"), maximum: at("2040-01-01Z") }))
  const months = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 240 }))
  it.prop(
    "follow each other by 28 to 31 days, at the same time of the day, and no month is left out",
    { anchor: moment, months },
    ({ anchor, months }) => {
      let due = anchor
      for (let count = 0; count < months; count++) {
        const next = RenewalCalendar.after(anchor, due)
        expect(next - due).toBeGreaterThanOrEqual(28 * day)
        expect(next - due).toBeLessThanOrEqual(31 * day)
        expect((next - anchor) % day).toBe(0)
        const [was, is] = [new Date(due), new Date(next)]
        expect((is.getUTCFullYear() - was.getUTCFullYear()) * 12 + is.getUTCMonth() - was.getUTCMonth()).toBe(1)
        // From every moment, the result is the first due date after it.
        expect(RenewalCalendar.after(anchor, next - 1)).toBe(next)
        due = next
      }
    },
    { arbitrary: { runs: 200 } }
  )
})

describe("the life of a number (guide/numbers.md#owned-numbers)", () => {
  const lives: Readonly<Record<string, NumberLife.Life>> = {
    pending: ordered,
    "port pending": { ...ordered, status: "port_pending" },
    active,
    due: { ...active, nextRenewalAt: t0 - day },
    anchor: anchored,
    suspended: { ...active, operatorSuspendedAt: t0 },
    failed: { ...ordered, status: "failed" },
    released: taken(active, release, t0),
    "ported out": taken(active, { type: "ported_out" }, t0)
  }
  const inputs: Readonly<Record<string, NumberLife.Input>> = {
    activated: { type: "activated" },
    failed: { type: "failed" },
    renewed: { type: "renewed" },
    unpaid: { type: "unpaid" },
    suspend: { type: "suspended" },
    resume: { type: "resumed" },
    "ported out": { type: "ported_out" },
    release,
    take
  }
  const no = "release_not_permitted"
  const not = "number_not_yet_active"
  const off = "conflict"
  // The columns are the inputs: a status, an error, or "-" for no change.
  it.each([
    ["pending", "active", "failed", "-", "-", not, not, not, no, not],
    ["port pending", "active", "failed", "-", "-", not, not, not, no, not],
    ["active", "-", "-", "-", "-", "active", "-", "ported_out", "released", "released"],
    ["due", "-", "-", "active", "active", "active", "-", "ported_out", "released", "released"],
    ["anchor", "-", "-", "-", "-", "active", "-", "ported_out", no, "released"],
    ["suspended", "-", "-", "-", "-", "-", "active", "ported_out", "released", "released"],
    ["failed", "-", "-", "-", "-", off, off, off, no, off],
    ["released", "-", "-", "-", "-", off, off, off, "-", off],
    ["ported out", "-", "-", "-", "-", off, off, off, no, off]
  ])("goes on from %s as its row says", (name, ...expected) => {
    const life = lives[name] ?? expect.unreachable(name)
    expect(
      Object.values(inputs).map((input) => {
        const outcome = NumberLife.step(life, input, t0)
        if (outcome.type === "rejected") return outcome.error.code
        return outcome.type === "accepted" ? outcome.life.status : "-"
      })
    ).toEqual(expected)
  })

  it("ends with nothing due and no address, held for 14 days and kept from others for 28", () => {
    const owed = taken({ ...anchored, nextRenewalAt: t0 }, { type: "unpaid" }, t0)
    expect(taken(owed, take, t0 + day)).toEqual({
      ...ordered,
      status: "released",
      activatedAt: t0,
      releasedAt: t0 + day,
      heldUntil: t0 + 15 * day,
      agedUntil: t0 + 29 * day,
      owedFrom: t0,
      owedUntil: t0 + day
    })
    expect(taken(active, { ...take, isHeld: false }, t0)).toMatchObject({ heldUntil: t0, agedUntil: t0 + 28 * day })
    expect(taken(active, { type: "ported_out" }, t0)).toMatchObject({ heldUntil: null, agedUntil: null })
  })

  it.each([
    ["the tenant releases it", release],
    ["the operator takes it", take],
    ["it is ported out", { type: "ported_out" }]
  ] as const)("owes the months that have begun when %s, until each of them is paid", (_, input) => {
    const lost = (now: number) => taken(active, input, now)
    expect(lost(at("2026-02-28T08:30:00.249Z"))).toMatchObject({ owedFrom: null, owedUntil: null })
    let life = lost(at("2026-04-30T08:30:00.250Z"))
    const paid: Array<string> = []
    for (let due = NumberLife.dueMonth(life, t0); due !== null; due = NumberLife.dueMonth(life, t0)) {
      paid.push(new Date(due).toISOString().slice(0, 10))
      life = taken(life, { type: "renewed" }, t0)
    }
    expect(paid).toEqual(["2026-02-28", "2026-03-31", "2026-04-30"])
    expect(life).toMatchObject({ owedFrom: null, owedUntil: null, nextRenewalAt: null })
    expect(NumberLife.step(life, { type: "renewed" }, t0)).toEqual({ type: "unchanged" })
  })

  it("owes no month that began while it was suspended for want of payment", () => {
    const due = at("2026-02-28T08:30:00.250Z")
    const unpaid = taken(active, { type: "unpaid" }, due)
    const rests = taken(unpaid, { type: "unpaid" }, due + 7 * day)
    const released = taken(rests, { type: "unpaid" }, due + 40 * day)
    expect(released).toMatchObject({ status: "released", owedFrom: due })
    expect(taken(released, { type: "renewed" }, due + 41 * day)).toMatchObject({ owedFrom: null })
  })

  it("works again when neither its owner nor the operator lets it rest", () => {
    const rests = { ...active, unpaidSuspendedAt: t0 + 5, operatorSuspendedAt: t0 + 9, nextRenewalAt: t0 }
    expect(NumberLife.suspendedAt(rests)).toBe(t0 + 5)
    const renewed = taken(rests, { type: "renewed" }, t0 + 20)
    expect(NumberLife.suspendedAt(renewed)).toBe(t0 + 9)
    expect(NumberLife.suspendedAt(taken(renewed, { type: "resumed" }, t0 + 21))).toBeNull()
  })
})

describe("a month that is not paid (guide/numbers.md#renewals)", () => {
  /** The life of an unpaid number that is checked at each `checkAt`, from `from` on. */
  const unpaid = (from: number, late = 0) => {
    let life = { ...active, nextRenewalAt: t0 }
    const seen: Array<string> = []
    let now = from
    while (seen.length < 20) {
      const outcome = NumberLife.step(life, { type: "unpaid" }, now)
      if (outcome.type !== "accepted") break
      life = outcome.life as typeof life
      seen.push(`${(now - from) / day} ${outcome.letter}`)
      const next = NumberLife.checkAt(life)
      if (next === null) break
      now = Math.max(now, next) + late
    }
    return { life, seen }
  }

  it("brings letters on days 0, 3 and 6, suspension on day 7 and release on day 30", () => {
    const { life, seen } = unpaid(t0)
    expect(seen).toEqual(["0 due", "3 due", "6 due", "7 suspended", "30 released"])
    expect(life).toMatchObject({ status: "released", heldUntil: t0 + 44 * day, agedUntil: t0 + 58 * day })
  })

  it("is counted from when it was refused, so a service that was away for months takes nothing at once", () => {
    expect(unpaid(t0 + 61 * day).seen).toEqual(["0 due", "3 due", "6 due", "7 suspended", "30 released"])
  })

  it("is suspended before it is released, and owed no letter that is late, however late it is looked at", () => {
    expect(unpaid(t0, 40 * day).seen).toEqual(["0 due", "43 suspended", "106 released"])
    expect(unpaid(t0, 4 * day).seen).toEqual(["0 due", "7 suspended", "34 released"])
  })

  it("asks to be looked at when something is to be done, and never before", () => {
    const life = taken({ ...active, nextRenewalAt: t0 }, { type: "unpaid" }, t0)
    const next = NumberLife.checkAt(life) ?? 0
    expect(NumberLife.step(life, { type: "unpaid" }, next - 1).type).toBe("unchanged")
    expect(NumberLife.step(life, { type: "unpaid" }, next).type).toBe("accepted")
  })

  const choices = Schema.Array(
    Schema.Struct({
      wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })),
      pays: Schema.Boolean
    })
  ).check(Schema.isMaxLength(40))
  it.prop(
    "is paid once, in order, whatever comes between, until the number is released",
    { choices },
    ({ choices }) => {
      let life: NumberLife.Life = active
      let now = t0
      const paid: Array<number> = []
      for (const { pays, wait } of choices) {
        now += wait * day
        const due = life.nextRenewalAt
        const outcome = NumberLife.step(life, { type: pays ? "renewed" : "unpaid" }, now)
        if (outcome.type !== "accepted") continue
        if (pays && due !== null) paid.push(due)
        life = outcome.life
      }
      const dues = [RenewalCalendar.after(t0, t0)]
      while (dues.length < paid.length) dues.push(RenewalCalendar.after(t0, dues.at(-1) ?? 0))
      expect(paid).toEqual(dues.slice(0, paid.length))
      if (life.status === "active") expect(life.nextRenewalAt).toBe(RenewalCalendar.after(t0, paid.at(-1) ?? t0))
      else expect(NumberLife.checkAt(life)).toBeNull()
    },
    { arbitrary: { runs: 300 } }
  )
})
