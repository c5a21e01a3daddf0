import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Carried from "../../../src/telephony/call/stored/Carried.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Money from "../../../src/domain/Money.ts"
import type { CarriedLeg } from "../../../src/runtime/store/usage/TrunkLeg.ts"
import * as Margin from "../../../src/money/cost/Margin.ts"
import * as Cost from "../../../src/money/cost/Cost.ts"
import { empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import { Usages } from "../../../src/money/usage/Usage.ts"
import * as Sample from "../../telephony/call/CallSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"
import * as MarginOracle from "./MarginOracle.ts"

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** A call that is answered after a second, and hung up `ms` later. */
const lasted = (ms: number) =>
  Sample.carrier(
    Sample.carrier(Sample.start(Sample.place(), 0), { type: "answered", resume: null }, second),
    { type: "ended", cause: "hangup", sipStatus: null, by: "far" },
    second + ms
  ).state

describe("What a trunk carried of a call, guide/operation.md#costs-and-margin", () => {
  it("is each started minute of an answered leg, at its answer, with the digits of its number", () => {
    const state = lasted(2 * minute + 1)
    expect(Carried.of(state)).toEqual({
      route_id: state.routeId,
      debited_cents: state.costCents,
      legs: [{ direction: "outbound", digits: state.to.slice(1), started_at: second, minutes: 3, seconds: 121 }]
    })
    expect(Carried.of(lasted(2 * minute))?.legs).toMatchObject([{ minutes: 2 }])
  })

  it("is what the trunk counts, also beyond what was reserved and charged", () => {
    const state = lasted(minute)
    const meters = state.meters.map((meter) => ({ ...meter, endedAt: second + 10 * minute }))
    expect(Carried.of({ ...state, meters })?.legs).toMatchObject([{ minutes: 10 }])
  })

  it("is nothing of a call that nobody answered", () => {
    expect(Carried.of(Sample.start(Sample.place(), 0).state)).toBe(null)
  })

  it("tells apart as many digits as a prefix may have, and none where a number has none", () => {
    const state = lasted(minute)
    const digitsOf = (to: string) =>
      Carried.of({ ...state, legs: state.legs.map((leg) => ({ ...leg, to })) })?.legs[0]?.digits
    expect(["+1234567890123456789", "12x3", "+", "sip:1@b"].map(digitsOf)).toEqual(["123456789012345", "12", "", ""])
    expect(Carried.of({ ...state, legs: [] })?.legs).toMatchObject([{ digits: null, minutes: 1 }])
  })
})

describe("Groups beyond the limit", () => {
  it("stand with what has no name; the highest charges are named", () => {
    const of = (debitedMicroUsd: number) => ({
      calls: 1,
      minutes: 2,
      debitedMicroUsd,
      knownCalls: 1,
      knownDebitedMicroUsd: debitedMicroUsd,
      costMicroUsd: 3
    })
    const groups = new Map([
      ["a", of(1)],
      [null, of(9)],
      ["b", of(5)],
      ["c", of(4)]
    ])
    expect([...Margin.limited(groups, 2)]).toEqual([
      ["b", of(5)],
      ["c", of(4)],
      [null, { calls: 2, minutes: 4, debitedMicroUsd: 10, knownCalls: 2, knownDebitedMicroUsd: 10, costMicroUsd: 6 }]
    ])
    expect([...Margin.limited(groups, 3).keys()]).toEqual(["b", "c", "a", null])
  })
})

const quiet = Features.layer.pipe(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")))

const routes = { own: Ids.route("own"), shared: Ids.route("shared"), bare: Ids.route("bare") }
const hosts = { own: "192.0.2.1", shared: "192.0.2.1", bare: null }
const tenants = [Id.deriveUuid("margin one", "tenant"), Id.deriveUuid("margin two", "tenant")] as const

const origin = Date.UTC(2026, 0, 1)
const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
/** There are few moments, so that several samples use the same one. */
const Hour = upTo(6)
const Route = Schema.Literals(["own", "shared", "bare"])
const Direction = Schema.Literals(["outbound", "inbound"])
const Rate = Schema.Struct({
  direction: Direction,
  prefix: Schema.Literals(["", "1", "12", "120", "1202", "13", "2", "44", "449", "45", "99", "999999999999999"]),
  microUsdPerMinute: Schema.Union([upTo(2), upTo(100_000_000)]),
  increments: Schema.optionalKey(
    Schema.Struct({
      firstSecs: Schema.Literals([1, 30, 60, 300]),
      stepSecs: Schema.Literals([1, 6, 60]),
      connectionFeeMicroUsd: Schema.Literals([0, 7_001]),
      minimumMicroUsd: Schema.Literals([0, 50_000])
    })
  )
})
const Deck = Schema.Struct({
  trunk: Schema.Literals([routes.own, routes.shared, "192.0.2.1"]),
  hour: Hour,
  rates: Schema.Array(Rate).check(Schema.isMaxLength(8))
})
const Leg = Schema.Struct({
  direction: Direction,
  to: Schema.Literals(["+12025550100", "+12", "+1", "+120", "+130", "+449", "+4488", "+999999999999999", "+", "alice"]),
  hour: Hour,
  ms: Schema.Literals([0, 1, 29_001, minute, minute + 1, 5 * minute]),
  isMissing: Schema.Literals([false, false, false, true])
})
const Call = Schema.Struct({
  route: Route,
  tenant: upTo(1),
  hour: Hour,
  costCents: Schema.NullOr(upTo(1_000)),
  destination: Schema.NullOr(Schema.Literals(["US", "GB"])),
  legs: Schema.Array(Leg).check(Schema.isMaxLength(3))
})

layer(quiet, { timeout: "120 seconds", excludeTestServices: true })("The margin", (it) => {
  const setUp = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`TRUNCATE usage_tail, usage_detail, usage_day, trunk_leg, cost_rate, cost_deck`
    for (const id of tenants)
      yield* sql`INSERT INTO tenant (id, name, slug, status, partition, created_at, updated_at)
        VALUES (${id}, 'Acme', ${id}, 'active', 0, now(), now()) ON CONFLICT DO NOTHING`
    for (const name of Route.literals)
      yield* sql`INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, created_at)
        VALUES (${routes[name]}, ${tenants[0]}, ${name}, false, 'active', 'sip', ${hosts[name]}, now()) ON CONFLICT DO NOTHING`
  })

  it.effect.prop(
    "is what is added up call by call, for any decks, calls, period and grouping",
    {
      decks: Schema.Array(Deck).check(Schema.isMaxLength(6)),
      calls: Schema.Array(Call).check(Schema.isMaxLength(14)),
      from: Hour,
      to: Hour,
      by: Schema.Literals(Margin.groupings)
    },
    ({ by, calls, decks, from, to }) =>
      Effect.gen(function* () {
        yield* setUp
        const costs = yield* Cost.make
        const journal = yield* Journal
        const imported: Array<MarginOracle.Deck> = []
        for (const { hour: of, rates, trunk } of decks) {
          const once = [...new Map(rates.map((rate) => [`${rate.direction} ${rate.prefix}`, rate])).values()]
          const effectiveAt = origin + of * hour
          yield* costs.set(trunk, once, effectiveAt)
          imported.push({ trunk, effectiveAt, rates: once })
        }
        const ended = calls.map(({ costCents, legs, route, ...call }, n) => {
          const routeId = routes[route]
          // Rows of an earlier version know only the started minutes.
          const isOld = n % 2 === 1
          const named = legs.map(({ ms, ...leg }, index) => ({
            ...leg,
            ms: isOld ? Money.startedMinutes(ms) * minute : ms,
            id: Ids.leg(`${n} ${index}`)
          }))
          const meters = named.map(({ direction, hour: at, id, ms }) => ({
            kind: "leg" as const,
            legId: id,
            workId: null,
            direction,
            microUsdPerMinute: 0,
            reservedMinutes: 0,
            startedAt: origin + at * hour,
            endedAt: origin + at * hour + ms,
            pausedAt: null
          }))
          const metered = { routeId, legs: named.filter(({ isMissing }) => !isMissing), meters }
          const tenantId = tenants[call.tenant] ?? tenants[0]
          const group = { none: null, tenant: tenantId, trunk: routeId, destination: call.destination }[by]
          return {
            ...call,
            tenantId,
            group,
            costCents,
            endedAt: origin + call.hour * hour,
            metered
          }
        })
        for (const [n, { costCents, destination, endedAt, metered, tenantId }] of ended.entries()) {
          const found = Carried.of({ ...metered, costCents })
          const legs = found?.legs.map(({ seconds, ...leg }) =>
            n % 2 === 1 ? (leg as CarriedLeg) : { ...leg, seconds }
          )
          const carried = found === null ? null : { ...found, legs: legs ?? [] }
          const counted = [{ id: `call ${n}`, at: endedAt, figures: {}, carried }]
          const usage = { tenantId, dimensions: { customer_reference: null, number: null, destination }, counted }
          // A usage that is committed twice counts once.
          for (const _ of n % 3 === 0 ? [1, 2] : [1]) yield* journal.commit({ ...empty, usage })
        }
        yield* (yield* Usages).sum
        const period = { from: origin + Math.min(from, to) * hour, to: origin + (Math.max(from, to) + 1) * hour }
        const tariff = yield* costs.between(period.from, period.to)
        const read = yield* Margin.read({ ...period, by, tariff, legsAtOnce: 3 })
        const hostsById = new Map(
          Route.literals.flatMap((name) => (hosts[name] === null ? [] : [[routes[name], hosts[name]]]))
        )
        const expected = MarginOracle.sums(ended, period, MarginOracle.minuteCost(imported, hostsById))
        const sorted = (sums: ReadonlyMap<string | null, Margin.Sums>) =>
          [...sums].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
        expect(sorted(read)).toEqual(sorted(expected))
      }),
    { arbitrary: { runs: 60 }, timeout: 120_000 }
  )
})
