import { timestamptz } from "@effect/sql-pg/PgTypes"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import { type Figure, figures } from "../../../src/runtime/store/usage/UsageRow.ts"
import * as Period from "../../../src/money/usage/Period.ts"
import { groupings, Usages } from "../../../src/money/usage/Usage.ts"
import * as UsageSums from "../../../src/money/usage/UsageSums.ts"
import * as Features from "../../support/service/Features.ts"

const quiet = Features.layer.pipe(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")))

/** Days around the end of a month and of a year. Half of the moments lie on the border of a day. */
const origin = Date.UTC(2025, 11, 30)
const span = 4
const Moment = Schema.Struct({
  day: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: span })),
  ms: Schema.Union([
    Schema.Literals([0, 1, Period.dayMs - 1]),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Period.dayMs - 1 }))
  ])
})
const at = ({ day, ms }: typeof Moment.Type) => origin + day * Period.dayMs + ms

const Counted = Schema.Struct({
  moment: Moment,
  reference: Schema.NullOr(Schema.Literals(["", "a", "b"])),
  number: Schema.NullOr(Schema.Literals(["+12025550150", "+12025550151"])),
  destination: Schema.NullOr(Schema.Literals(["US", "GB"])),
  figure: Schema.Literals(figures),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
  /** Whether the job ran after it. */
  summed: Schema.Boolean,
  /** Whether it is reported twice. */
  repeated: Schema.Boolean
})

layer(quiet, { timeout: "120 seconds", excludeTestServices: true })("Usage", (it) => {
  let n = 0

  /** Only the part of a tenant that usage needs, because a signup takes long. */
  const workspace = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = Id.deriveUuid(`usage ${++n}`, "tenant")
    yield* sql`INSERT INTO tenant (id, name, slug, status, partition, created_at, updated_at)
      VALUES (${id}, 'Acme', ${`usage-${n}`}, 'active', 0, now(), now())`
    return id
  })

  it.effect.prop(
    "is what is counted again one by one, for any period and grouping, wherever the job has come to",
    {
      life: Schema.Array(Counted).check(Schema.isMaxLength(12)),
      from: Moment,
      to: Moment,
      groupBy: Schema.Literals(groupings)
    },
    ({ from, groupBy, life, to }) =>
      Effect.gen(function* () {
        const usages = yield* Usages
        const journal = yield* Journal
        const tenantId = yield* workspace
        for (const { amount, destination, figure, moment, number, reference, repeated, summed } of life) {
          const commit = {
            ...empty,
            usage: {
              tenantId,
              dimensions: { customer_reference: reference, number, destination },
              counted: [{ id: `cause ${++n}`, at: at(moment), figures: { [figure]: amount } }]
            }
          }
          yield* journal.commit(commit)
          if (summed) yield* usages.sum
          if (repeated && summed) {
            yield* journal.commit(commit)
            yield* usages.sum
          }
        }
        const [startMs, endMs] = [at(from), at(to)].toSorted((one, other) => one - other) as [number, number]
        if (startMs === endMs) return
        const report = yield* usages.report(tenantId, { startMs, endMs, groupBy })
        const within = life.filter(({ moment }) => at(moment) >= startMs && at(moment) < endMs)
        const sumOf = (counted: typeof life, figure: Figure) =>
          counted.reduce((sum, each) => sum + (each.figure === figure ? each.amount : 0), 0)
        const expected = (counted: typeof life) =>
          Object.fromEntries(
            figures.map((figure) => [figure === "cost_cents" ? "total_cost_cents" : figure, sumOf(counted, figure)])
          )
        expect(report.totals).toEqual({ ...expected(within), numbers_active: 0 })
        const dimension = UsageSums.dimensions.find((each) => each === groupBy)
        if (groupBy === "none") expect(report.results).toEqual([])
        else if (dimension === undefined)
          for (const { date, ...usage } of report.results) {
            const length = groupBy === "day" ? 10 : 7
            const own = within.filter(
              ({ moment }) => Period.dateOf(at(moment)).slice(0, length) === date?.slice(0, length)
            )
            expect(usage).toEqual({ ...expected(own), numbers_active: 0 })
          }
        else {
          const valueOf = (each: (typeof life)[number]) =>
            (dimension === "customer_reference" ? each.reference : each[dimension]) || null
          for (const { [dimension]: value, ...usage } of report.results)
            expect(usage).toEqual({ ...expected(within.filter((each) => valueOf(each) === value)), numbers_active: 0 })
          expect(new Set(report.results.map((result) => result[dimension]))).toEqual(new Set(within.map(valueOf)))
        }
        if (groupBy === "day" || groupBy === "month")
          expect(report.results.map(({ date }) => date)).toEqual(
            Period.parts({ start: startMs, end: endMs }, groupBy).map(({ date }) => date)
          )
      }),
    { arbitrary: { runs: 40 }, timeout: 120_000 }
  )

  it.effect("names a thousand references of a day, and counts the others with those that have none", () =>
    Effect.gen(function* () {
      const usages = yield* Usages
      const sql = yield* SqlClient.SqlClient
      const { id: tenantId } = yield* Features.newTenant()
      const entries = Array.from({ length: 1_203 }, (_, index) => ({
        id: `many ${index}`,
        at: origin,
        customer_reference: `r${index}`,
        outbound_calls: 1,
        cost_cents: index
      }))
      for (const half of [entries.slice(0, 700), entries.slice(700)]) {
        yield* sql`INSERT INTO usage_tail (tenant_id, entries) VALUES (${tenantId}, ${JSON.stringify(half)}::text::jsonb)`
        yield* usages.sum
      }
      const period = { startMs: origin, endMs: origin + Period.dayMs, groupBy: "customer_reference" } as const
      const { results, totals } = yield* usages.report(tenantId, period)
      expect(results.length).toBe(1_001)
      expect(results.at(-1)).toMatchObject({ customer_reference: null, outbound_calls: 203 })
      expect([totals.outbound_calls, totals.total_cost_cents]).toEqual([1_203, (1_202 * 1_203) / 2])
      // A reference with a sum keeps that sum.
      yield* sql`INSERT INTO usage_tail (tenant_id, entries) VALUES (${tenantId},
        ${JSON.stringify([{ id: "once more", at: origin, customer_reference: "r0", outbound_calls: 5 }])}::text::jsonb)`
      yield* usages.sum
      const again = yield* usages.report(tenantId, period)
      expect(again.results.find((result) => result.customer_reference === "r0")?.outbound_calls).toBe(6)
    })
  )

  it.effect("counts what is charged when it is debited, and nothing of what brings money or takes it back", () =>
    Effect.gen(function* () {
      const usages = yield* Usages
      const journal = yield* Journal
      const { id: tenantId } = yield* Features.newTenant()
      const types = [
        "number_order",
        "number_renewal",
        "plan_fee",
        "lookup_charge",
        "refund",
        "adjustment",
        "topup"
      ] as const
      for (const [index, type] of types.entries())
        yield* journal.commit({
          ...empty,
          money: [
            {
              id: `svc_ledger_${tenantId.slice(0, 8)}${index}` as never,
              tenantId,
              cause: `${type} ${tenantId}`,
              type,
              amountCents: -(10 ** index),
              description: "",
              referenceType: null,
              referenceId: null,
              at: origin
            }
          ]
        })
      const { totals } = yield* usages.report(tenantId, { startMs: origin, endMs: origin + 1 })
      expect(totals.total_cost_cents).toBe(1_111)
      yield* usages.sum
      expect((yield* usages.report(tenantId, { startMs: origin, endMs: origin + 1 })).totals).toEqual(totals)
    })
  )

  it.effect("tells how many numbers were active at some time of each day", () =>
    Effect.gen(function* () {
      const usages = yield* Usages
      const sql = yield* SqlClient.SqlClient
      const { id: tenantId } = yield* Features.newTenant()
      const number = (phone: string, reference: string | null, activated: number, released: number | null) => sql`
        INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features, customer_reference,
          upfront_cost_cents, monthly_cost_cents, activated_at, released_at, created_at, updated_at)
        VALUES (${`svc_did_${phone}`}, ${tenantId}, ${phone}, 'US', 'local', 'released', '{}', ${reference}, 0, 0,
          ${timestamptz(activated)}, ${timestamptz(released)}, now(), now())`
      yield* number("+12025550001", "a", origin + 1, null)
      yield* number("+12025550002", null, origin, origin + Period.dayMs)
      yield* number("+12025550003", null, origin + Period.dayMs * 9, null)
      const days = { startMs: origin, endMs: origin + 2 * Period.dayMs }
      const byDay = yield* usages.report(tenantId, { ...days, groupBy: "day" })
      expect(byDay.results.map(({ numbers_active }) => numbers_active)).toEqual([2, 1])
      expect(byDay.totals.numbers_active).toBe(2)
      const byNumber = yield* usages.report(tenantId, { ...days, groupBy: "number" })
      expect(byNumber.results.map(({ number, numbers_active }) => [number, numbers_active])).toEqual([
        ["+12025550001", 1],
        ["+12025550002", 1]
      ])
      const byReference = yield* usages.report(tenantId, { ...days, groupBy: "customer_reference" })
      expect(byReference.results.map((each) => [each.customer_reference, each.numbers_active])).toEqual([
        ["a", 1],
        [null, 1]
      ])
    })
  )
})
