import { Clock, Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Timestamp from "../../domain/time/Timestamp.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as ListClient from "../../runtime/store/list/ListClient.ts"
import { type Figure, figures } from "../../runtime/store/usage/UsageRow.ts"
import * as NumbersActive from "./NumbersActive.ts"
import * as Period from "./Period.ts"
import * as UsageSums from "./UsageSums.ts"
import type { Usage, UsageReport } from "./UsageView.ts"

export * as Period from "./Period.ts"
export * as UsageSums from "./UsageSums.ts"
export { UsageReport } from "./UsageView.ts"

export const groupings = ["none", "day", "month", ...UsageSums.dimensions] as const
export type Grouping = (typeof groupings)[number]

interface Asked {
  /** Epoch milliseconds; absent: the first of this month. */
  readonly startMs?: number
  /** Absent: the end of this month. */
  readonly endMs?: number
  readonly groupBy?: Grouping
}

/** The most groups of one answer. The others are summed under null. */
const groupLimit = 1_000

/** The commits of one statement; the job runs every `everyMs`. Waiting commits count all the same. */
const portion = 500
const everyMs = 10_000

const behind = Metric.gauge("usage_waiting_commits", {
  description: "Commits whose usage is not in the sums of days yet"
})

type Sums = Readonly<Record<Figure, number>>
interface Row extends Sums {
  readonly day: string | null
  readonly value: string | null
}

/**
 * Usage of tenants, guide/money.md#usage: sums of days, from the counts and charges of commits. Parts of days are read
 * from single entries.
 */
export class Usages extends Context.Service<
  Usages,
  {
    /** Fails with `invalid_request` for a period that is empty or too long. */
    readonly report: (tenantId: TenantId, asked: Asked) => Effect.Effect<UsageReport, ApiError>
    /** Adds waiting commits to the sums. The job does it by itself. */
    readonly sum: Effect.Effect<void, SqlError>
  }
>()("trunkline/usage/Usages") {
  static readonly layer = Layer.effect(
    Usages,
    Effect.gen(function* () {
      const shared = yield* SqlClient.SqlClient
      const { sql, within } = yield* ListClient.reading
      const jobs = yield* Jobs

      const sum = Effect.gen(function* () {
        while (true) {
          const [row] = yield* shared.withTransaction(
            shared.unsafe<{ readonly taken: number }>(UsageSums.statement, [String(portion)])
          )
          if ((row?.taken ?? 0) < portion) break
          yield* Effect.yieldNow
        }
        const [left] = yield* shared<{ readonly waiting: number }>`SELECT count(*) AS waiting FROM usage_tail`
        yield* Metric.update(behind, left?.waiting ?? 0)
      })

      jobs.declare({
        kind: "usage.sum",
        everyMs,
        concurrency: 1,
        timeoutMs: 600_000,
        retry: { attempts: Infinity, firstMs: 1_000, maxMs: 60_000 },
        run: () => sum
      })

      /** One statement, so one snapshot: whole days from their sums, parts of days and waiting commits one by one. */
      const read = (tenantId: TenantId, period: Period.Period, dimension: UsageSums.Dimension | null) => {
        const whole = Period.wholeDays(period)
        const names = sql.literal(figures.join(", "))
        const value = dimension === null ? sql`''` : sql`coalesce(${sql(dimension)}, '')`
        const day = dimension === null ? sql`day` : sql`NULL::date`
        return sql<Row>`
          SELECT ${day}::text AS day, value, ${sql.literal(figures.map((name) => `sum(${name}) AS ${name}`).join(", "))}
          FROM (
            SELECT day, value, ${names} FROM usage_day
            WHERE tenant_id = ${tenantId} AND kind = ${dimension ?? ""}
              AND day >= (${timestamptz(whole.start)} AT TIME ZONE 'UTC')::date AND day < (${timestamptz(whole.end)} AT TIME ZONE 'UTC')::date
            UNION ALL
            SELECT (at AT TIME ZONE 'UTC')::date, ${value}, ${names} FROM usage_detail
            WHERE tenant_id = ${tenantId} AND at >= ${timestamptz(period.start)} AND at < ${timestamptz(whole.start)}
            UNION ALL
            SELECT (at AT TIME ZONE 'UTC')::date, ${value}, ${names} FROM usage_detail
            WHERE tenant_id = ${tenantId} AND at >= ${timestamptz(whole.end)} AND at < ${timestamptz(period.end)}
            UNION ALL
            SELECT (to_timestamp(e.at / 1000.0) AT TIME ZONE 'UTC')::date, ${value},
              ${sql.literal(figures.map((name) => `coalesce(e.${name}, 0)`).join(", "))}
            FROM usage_tail t CROSS JOIN LATERAL ${sql.literal(UsageSums.entries)}
            WHERE t.tenant_id = ${tenantId} AND e.at >= ${period.start}::float8 AND e.at < ${period.end}::float8
          ) AS counted GROUP BY 1, 2`.withoutTransform
      }

      return Usages.of({
        report: Effect.fn("Usages.report")(function* (tenantId, asked) {
          const current = Period.month(yield* Clock.currentTimeMillis)
          const { endMs: end = current.end, groupBy = "none", startMs: start = current.start } = asked
          const period = { start, end }
          if (end <= start) return yield* ApiError.of("invalid_request", "end must be after start", "end")
          if (end - start > Period.longestMs)
            return yield* ApiError.of("invalid_request", "the period is longer than 92 days", "end")
          const dimension = UsageSums.dimensions.find((each) => each === groupBy) ?? null
          const parts = groupBy === "day" || groupBy === "month" ? Period.parts(period, groupBy) : []
          const [rows, numbers] = yield* within(
            tenantId,
            Effect.all([
              read(tenantId, period, dimension),
              NumbersActive.read({ sql, tenantId, periods: [period, ...parts], dimension })
            ])
          ).pipe(Effect.orDie)
          const total = numbers(0, null)
          const results = dimension === null ? byDate(parts, rows, numbers) : byValue(dimension, rows, numbers)
          return {
            period_start: Timestamp.format(start),
            period_end: Timestamp.format(end),
            currency: "USD" as const,
            totals: usageOf(added(rows), total),
            results
          }
        }),
        sum
      })
    })
  )
}

const none: Sums = Object.fromEntries(figures.map((figure) => [figure, 0])) as Record<Figure, number>

const added = (rows: ReadonlyArray<Sums>): Sums =>
  rows.reduce<Sums>(
    (sums, row) =>
      Object.fromEntries(figures.map((figure) => [figure, sums[figure] + row[figure]])) as Record<Figure, number>,
    none
  )

const usageOf = ({ cost_cents, ...sums }: Sums, numbersActive: number): Usage => ({
  outbound_calls: sums.outbound_calls,
  inbound_calls: sums.inbound_calls,
  answered_calls: sums.answered_calls,
  call_seconds: sums.call_seconds,
  billed_minutes: sums.billed_minutes,
  recording_minutes: sums.recording_minutes,
  transcription_minutes: sums.transcription_minutes,
  conference_participant_minutes: sums.conference_participant_minutes,
  amd_checks: sums.amd_checks,
  lookups: sums.lookups,
  numbers_active: numbersActive,
  total_cost_cents: cost_cents
})

/** Every day or month of the period, including those without usage. */
const byDate = (
  parts: ReadonlyArray<Period.Period & { readonly date: string }>,
  rows: ReadonlyArray<Row>,
  numbers: NumbersActive.Numbers
): UsageReport["results"] => {
  const days = new Map(rows.map((row) => [row.day, row]))
  return parts.map(({ date, ...part }, index) => {
    const own = Period.parts(part, "day").flatMap((day) => days.get(day.date) ?? [])
    return { date, ...usageOf(added(own), numbers(index + 1, null)) }
  })
}

/** The most expensive values first. Values beyond the limit are summed with usage that has no value. */
const byValue = (
  dimension: UsageSums.Dimension,
  rows: ReadonlyArray<Row>,
  numbers: NumbersActive.Numbers
): UsageReport["results"] => {
  const values = new Map(
    rows.flatMap((row) => (row.value === null || row.value === "" ? [] : [[row.value, row as Sums]]))
  )
  for (const value of numbers.values) if (value !== "" && !values.has(value)) values.set(value, none)
  const ordered = [...values].toSorted(
    ([one, a], [other, b]) =>
      b.cost_cents - a.cost_cents || b.call_seconds - a.call_seconds || (one < other ? -1 : one > other ? 1 : 0)
  )
  const shown = ordered.slice(0, groupLimit)
  const rest = [...rows.filter(({ value }) => value === ""), ...ordered.slice(groupLimit).map(([, sums]) => sums)]
  const beyond = ordered.slice(groupLimit).reduce((sum, [value]) => sum + numbers(0, value), numbers(0, ""))
  const others = added(rest)
  return [
    ...shown.map(([value, sums]) => ({ [dimension]: value, ...usageOf(sums, numbers(0, value)) })),
    ...(rest.length === 0 && beyond === 0 ? [] : [{ [dimension]: null, ...usageOf(others, beyond) }])
  ]
}
