import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../domain/Id.ts"
import type { Due } from "./DueStatement.ts"

/** The most waiting deliveries that are counted for one tenant. The number then means "many", and costs no more. */
const countLimit = 10_000

/** The number of tenants that are counted at a time: those whose deliveries have been due for longest. */
const talkers = 5

/** The most tenants that one process ever names, because a label is never removed again. */
const namesLimit = 100

const live = Metric.gauge("webhook_destinations_live", { description: "Endpoints with a fiber" })
const underWay = Metric.gauge("webhook_attempts_under_way", { description: "Webhook attempts under way" })
const claimed = Metric.gauge("webhook_deliveries_claimed", {
  description: "Deliveries that are claimed, whether their attempt is under way or has still to begin"
})
const oldest = Metric.gauge("webhook_oldest_due_seconds", {
  description: "How long the oldest delivery has been due that nobody has claimed, as far as the last look reached"
})
const waiting = Metric.gauge("webhook_deliveries_waiting", {
  description: `First tries that wait, of the tenants whose deliveries have been due for longest, counted up to ${countLimit}`
})

/** Counts the deliveries in one tenant's lanes, up to a limit. `$1`: the partition; `$2`: the tenant. */
const count = `
SELECT count(*) AS waiting FROM (
  SELECT FROM webhook_delivery d
  WHERE d.partition = $1::int AND d.tenant_id = $2::uuid AND d.due_at IS NOT NULL AND d.in_lane LIMIT (SELECT ${countLimit})
) counted
`

/**
 * Updates the metrics of deliveries. The endpoints that a look found are in the order of how long they have been due.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const named = new Set<TenantId>()
  const show = (tenant: TenantId, value: number) => Metric.update(Metric.withAttributes(waiting, { tenant }), value)

  return Effect.fnUntraced(function* (facts: {
    readonly live: number
    readonly underWay: number
    readonly claimed: number
    readonly due: ReadonlyArray<Due>
  }) {
    const { due } = facts
    yield* Metric.update(live, facts.live)
    yield* Metric.update(underWay, facts.underWay)
    yield* Metric.update(claimed, facts.claimed)
    yield* Metric.update(oldest, Math.max(0, ...due.slice(0, 1).map(({ dueForMs }) => dueForMs)) / 1000)
    const loud = new Map<TenantId, number>()
    for (const { partition, tenantId } of due) {
      if (loud.size === talkers) break
      if (named.size < namesLimit || named.has(tenantId)) loud.set(tenantId, partition)
    }
    for (const tenant of named) if (!loud.has(tenant)) yield* show(tenant, 0)
    for (const [tenant, partition] of loud) {
      const [row] = yield* sql.unsafe<{ readonly waiting: number }>(count, [partition, tenant])
      named.add(tenant)
      yield* show(tenant, row?.waiting ?? 0)
    }
  })
})
