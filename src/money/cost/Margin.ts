import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import * as Money from "../../domain/Money.ts"
import * as StatementLimit from "../../runtime/store/StatementLimit.ts"
import * as PrefixSteps from "./PrefixSteps.ts"
import type { Tariff } from "./Tariff.ts"

/**
 * Compares what calls were charged with what they cost the operator, guide/operation.md#costs-and-margin. A trunk
 * counts each started increment of an answered leg, at the rate of the deck that held when the leg was answered. The
 * database adds the rows up that ended calls left (`runtime/store/usage/TrunkLeg.ts`). No sum is kept, because a deck
 * may be imported for the past.
 */
export const groupings = ["none", "tenant", "trunk", "destination"] as const
export type Grouping = (typeof groupings)[number]

export interface Sums {
  readonly calls: number
  readonly minutes: number
  readonly debitedMicroUsd: number
  /** The number of calls whose cost is known; the two sums below are over these calls. */
  readonly knownCalls: number
  readonly knownDebitedMicroUsd: number
  readonly costMicroUsd: number
}

/** The most legs in one statement, so that it takes some tenths of a second. */
const legsOfStatement = 100_000
/** The most groups in one answer: those with the highest charges. The others are added up under null. */
const groupLimit = 1_000

const groups: Readonly<Record<Grouping, string>> = {
  none: "NULL::text",
  tenant: "tenant_id::text",
  trunk: "route_id",
  destination: "destination"
}

/** `Increments.microUsd` of the started increments in SQL, in whole numbers; null without a rate. */
const priceOf = `CASE WHEN rate IS NOT NULL THEN greatest(minimum, fee + (rate *
  (first_secs + step_secs * ((greatest(seconds - first_secs, 0) + step_secs - 1) / step_secs)) + 59) / 60) END`

/**
 * Parameters are the decks `$1` and spans `$2` of a tariff, and the moments `$3` and `$4`. The cost of a call is known
 * when the cost of each of its legs is. The rate is looked up in a subquery of its own, so that later steps of the plan
 * do not carry a whole deck with each leg.
 */
const statement = (by: Grouping): string => `
WITH deck AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(deck int, direction text, points bigint[], rates bigint[],
    firsts int[], steps int[], fees bigint[], minimums bigint[])
),
span AS MATERIALIZED (
  SELECT route, deck, to_timestamp(since / 1000.0) AS since, coalesce(to_timestamp(until / 1000.0), 'infinity') AS until
  FROM jsonb_to_recordset($2::jsonb) AS s(route text, deck int, since float8, until float8)
),
placed AS (
  SELECT l.call_id, ${groups[by]} AS name, l.minutes, coalesce(l.seconds, l.minutes * 60) AS seconds, l.debited_cents,
    d.rates, d.firsts, d.steps, d.fees, d.minimums, width_bucket(${PrefixSteps.place("l.digits")}, d.points) AS step
  FROM trunk_leg l
    LEFT JOIN span s ON s.route = l.route_id AND l.started_at >= s.since AND l.started_at < s.until
    LEFT JOIN deck d ON d.deck = s.deck AND d.direction = l.direction
  WHERE l.ended_at >= $3::timestamptz AND l.ended_at < $4::timestamptz
  OFFSET 0
),
leg AS (
  SELECT call_id, name, minutes, seconds, debited_cents, nullif(rates[step], ${PrefixSteps.unknown}) AS rate,
    coalesce(firsts[step], 60) AS first_secs, coalesce(steps[step], 60) AS step_secs, coalesce(fees[step], 0) AS fee,
    coalesce(minimums[step], 0) AS minimum
  FROM placed
  OFFSET 0
),
priced AS (
  SELECT call_id, name, minutes, debited_cents, CASE WHEN minutes = 0 THEN 0 ELSE ${priceOf} END AS cost
  FROM leg
),
called AS (
  SELECT min(name) AS name, coalesce(sum(minutes), 0) AS minutes, max(debited_cents) AS debited, sum(cost) AS cost,
    bool_and(cost IS NOT NULL) AS is_known
  FROM priced GROUP BY call_id
)
SELECT name, count(*) AS calls, sum(minutes) AS minutes, sum(debited) AS debited_cents,
  count(*) FILTER (WHERE is_known) AS known_calls,
  coalesce(sum(debited) FILTER (WHERE is_known), 0) AS known_debited_cents,
  coalesce(sum(cost) FILTER (WHERE is_known), 0) AS cost_micro_usd
FROM called GROUP BY name`

interface Row extends Pick<Sums, "calls" | "minutes" | "knownCalls" | "costMicroUsd"> {
  readonly name: string | null
  readonly debitedCents: number
  readonly knownDebitedCents: number
}

const unhurried = <A, E>(rows: Effect.Effect<A, E>) => Effect.orDie(StatementLimit.unhurried(rows))

/** Adds up the calls that ended from `from` on and before `to`, by group, those with the highest charges first. */
export const read = Effect.fnUntraced(function* (of: {
  readonly from: number
  readonly to: number
  readonly by: Grouping
  readonly tariff: Tariff
  readonly legsAtOnce?: number
}): Effect.fn.Return<ReadonlyMap<string | null, Sums>, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const decks = yield* TimeSlices.run(() => encoded(of.tariff.decks))
  const spans = JSON.stringify(of.tariff.spans)
  const text = statement(of.by)
  const { legsAtOnce = legsOfStatement } = of
  const sums = new Map<string | null, Sums>()
  let [place, end] = [new Date(of.from).toISOString(), new Date(of.to).toISOString()]
  while (true) {
    // All legs of a call have the same `ended_at`, so a portion must end between two moments.
    const [behind] = yield* unhurried(sql<{ readonly place: string }>`
      SELECT (ended_at + interval '1 microsecond')::text AS place FROM trunk_leg
      WHERE ended_at >= ${place}::timestamptz AND ended_at < ${end}::timestamptz
      ORDER BY ended_at OFFSET ${legsAtOnce}::int LIMIT 1`)
    const rows = yield* unhurried(sql.unsafe<Row>(text, [decks, spans, place, behind?.place ?? end]))
    for (const { debitedCents, knownDebitedCents, name, ...row } of rows)
      sums.set(
        name,
        added(sums.get(name) ?? none, {
          ...row,
          debitedMicroUsd: Money.microFromCents(debitedCents),
          knownDebitedMicroUsd: Money.microFromCents(knownDebitedCents)
        })
      )
    if (behind === undefined) return limited(sums)
    place = behind.place
  }
})

/** The most numbers that are encoded in one step. */
const encodedAtOnce = 2_000

/** Decks as JSON. */
function* encoded(decks: Tariff["decks"]): TimeSlices.Work<string> {
  const texts: Array<string> = []
  for (const deck of decks) {
    const fields: Array<string> = []
    for (const [name, value] of Object.entries(deck)) {
      const parts: Array<string> = []
      const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
      for (let at = 0; at < items.length; at += encodedAtOnce) {
        parts.push(JSON.stringify(items.slice(at, at + encodedAtOnce)).slice(1, -1))
        yield
      }
      fields.push(`${JSON.stringify(name)}:${Array.isArray(value) ? `[${parts.join()}]` : JSON.stringify(value)}`)
    }
    texts.push(`{${fields.join()}}`)
  }
  return `[${texts.join()}]`
}

const none: Sums = {
  calls: 0,
  minutes: 0,
  debitedMicroUsd: 0,
  knownCalls: 0,
  knownDebitedMicroUsd: 0,
  costMicroUsd: 0
}

const added = (one: Sums, other: Sums): Sums => ({
  calls: one.calls + other.calls,
  minutes: one.minutes + other.minutes,
  debitedMicroUsd: one.debitedMicroUsd + other.debitedMicroUsd,
  knownCalls: one.knownCalls + other.knownCalls,
  knownDebitedMicroUsd: one.knownDebitedMicroUsd + other.knownDebitedMicroUsd,
  costMicroUsd: one.costMicroUsd + other.costMicroUsd
})

/** Adds the groups beyond the limit to the group without a name. */
export const limited = (
  sums: ReadonlyMap<string | null, Sums>,
  limit = groupLimit
): ReadonlyMap<string | null, Sums> => {
  const ordered = [...sums].toSorted(
    ([name, one], [other, two]) => two.debitedMicroUsd - one.debitedMicroUsd || ((name ?? "") < (other ?? "") ? -1 : 1)
  )
  const named = ordered.filter(([name]) => name !== null)
  const rest = [...ordered.filter(([name]) => name === null), ...named.slice(limit)].map(([, each]) => each)
  const shown: ReadonlyArray<readonly [string | null, Sums]> = [
    ...named.slice(0, limit),
    ...(rest.length === 0 ? [] : [[null, rest.reduce(added, none)] as const])
  ]
  return new Map(shown)
}
