import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { MinuteCost } from "./TrunkCosts.ts"
import { RouteId } from "../../domain/Id.ts"
import * as Money from "../../domain/Money.ts"
import type { StoredEntity } from "../../store/Journal.ts"
import { Leg } from "../../call/leg/Leg.ts"
import { Meter } from "../../call/Meter.ts"
import * as Upgrade from "../../call/Upgrade.ts"

/**
 * What calls were charged beside what they cost the operator, guide/operation.md#costs-and-margin. A trunk counts each
 * started minute of an answered leg, at what its deck said when the leg was answered.
 */
export const groupings = ["none", "tenant", "trunk", "destination"] as const
export type Grouping = (typeof groupings)[number]

/** What is read of a call. */
export const Metered = Schema.Struct({
  routeId: RouteId,
  legs: Schema.Array(Schema.Struct({ id: Leg.fields.id, to: Leg.fields.to })),
  meters: Schema.Array(Meter)
})

/** Of one call; `costMicroUsd` null: of some minute nobody knows what it costs. */
export interface Called {
  readonly minutes: number
  readonly costMicroUsd: number | null
}

export const calledOf = ({ legs, meters, routeId }: typeof Metered.Type, costOf: MinuteCost): Called =>
  meters.reduce<Called>(
    (sum, { direction, endedAt, kind, legId, startedAt }) => {
      if (kind !== "leg" || startedAt === null || endedAt === null) return sum
      const minutes = Money.startedMinutes(endedAt - startedAt)
      if (minutes === 0) return sum
      const number = legs.find(({ id }) => id === legId)?.to ?? null
      const cost = number === null ? null : costOf(routeId, direction, number, startedAt)
      return {
        minutes: sum.minutes + minutes,
        costMicroUsd: sum.costMicroUsd === null || cost === null ? null : sum.costMicroUsd + minutes * cost
      }
    },
    { minutes: 0, costMicroUsd: 0 }
  )

export interface Sums {
  readonly calls: number
  readonly minutes: number
  readonly debitedMicroUsd: number
  /** Of the calls whose cost is known. */
  readonly knownCalls: number
  readonly knownDebitedMicroUsd: number
  readonly costMicroUsd: number
}

export const none: Sums = {
  calls: 0,
  minutes: 0,
  debitedMicroUsd: 0,
  knownCalls: 0,
  knownDebitedMicroUsd: 0,
  costMicroUsd: 0
}

export const added = (sums: Sums, debitedMicroUsd: number, { costMicroUsd, minutes }: Called): Sums => ({
  calls: sums.calls + 1,
  minutes: sums.minutes + minutes,
  debitedMicroUsd: sums.debitedMicroUsd + debitedMicroUsd,
  knownCalls: sums.knownCalls + (costMicroUsd === null ? 0 : 1),
  knownDebitedMicroUsd: sums.knownDebitedMicroUsd + (costMicroUsd === null ? 0 : debitedMicroUsd),
  costMicroUsd: sums.costMicroUsd + (costMicroUsd ?? 0)
})

/** Calls that are read at once: decoding them keeps the event loop for some 10 ms, and it is everybody's. */
const portion = 100
/** Groups of one answer; calls of others stand together under null. */
const groupLimit = 1_000

interface Row extends Pick<StoredEntity, "state" | "stateVersion"> {
  readonly id: string
  readonly place: string
  readonly group: string | null
  readonly isCall: boolean
  readonly isAnswered: boolean
  readonly costCents: number
}

/** Calls that ended from `from` on and before `to`, by what they are grouped by. They are read in portions. */
export const read = Effect.fnUntraced(function* (of: {
  readonly from: number
  readonly to: number
  readonly by: Grouping
  readonly costOf: MinuteCost
}): Effect.fn.Return<ReadonlyMap<string | null, Sums>, never, SqlClient.SqlClient> {
  const { by, costOf, from, to } = of
  const sql = yield* SqlClient.SqlClient
  const group = sql.literal(
    { none: "NULL", tenant: "u.tenant_id::text", trunk: "c.route_id", destination: "u.destination" }[by]
  )
  const groups = new Map<string | null, Sums>()
  let [place, last] = [new Date(from).toISOString(), ""]
  while (true) {
    const rows = yield* Effect.orDie(sql<Row>`
      SELECT u.id, u.at::text AS place, ${group} AS group, c.id IS NOT NULL AS "isCall",
        c.answered_at IS NOT NULL AS "isAnswered", coalesce(c.cost_cents, 0)::float8 AS "costCents",
        e.state, e.state_version AS "stateVersion"
      FROM (
        SELECT id, at, tenant_id, destination FROM usage_detail
        WHERE (at, id) > (${place}::timestamptz, ${last}::text) AND at < to_timestamp(${to}::float8 / 1000)
        ORDER BY at, id LIMIT ${portion}
      ) AS u LEFT JOIN call c ON c.id = u.id LEFT JOIN entity e ON e.id = c.id
      ORDER BY u.at, u.id`)
    for (const row of rows) {
      if (!row.isCall) continue
      // A state that cannot be read, or is gone.
      const called = Result.match(Schema.decodeUnknownResult(Metered)(Upgrade.shape(row)), {
        onSuccess: (metered) => calledOf(metered, costOf),
        onFailure: (): Called => ({ minutes: 0, costMicroUsd: row.isAnswered ? null : 0 })
      })
      const debited = Money.microFromCents(row.costCents)
      if (called.minutes === 0 && debited === 0 && called.costMicroUsd === 0) continue
      const key = groups.has(row.group) || groups.size < groupLimit ? row.group : null
      groups.set(key, added(groups.get(key) ?? none, debited, called))
    }
    const end = rows.at(-1)
    if (end === undefined || rows.length < portion) return groups
    ;[place, last] = [end.place, end.id]
    yield* Effect.yieldNow
  }
})
