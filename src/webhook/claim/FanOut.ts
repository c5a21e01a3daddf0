import { Effect, Latch } from "effect"
import { SqlClient } from "effect/sql"
import * as LogOnce from "../../runtime/process/LogOnce.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import type { EventId, TenantId } from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as DeliveryId from "../../runtime/store/journal/DeliveryId.ts"
import type { WebhookEndpointRef } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import { failOver } from "../attempt/OutcomeWriter.ts"
import { relaxed } from "./Relaxed.ts"

const portionSize = 128

/** The time between two looks for events without a hint. */
const lookMs = 1_000

/** The tenant of a partition (`$1`) whose turn comes after `$2`, among those with waiting events. */
const nextTenant = `
SELECT tenant_id FROM webhook_fan_out WHERE partition = $1::int AND tenant_id > $2::uuid
ORDER BY tenant_id LIMIT (SELECT 1)
`

/**
 * Makes the deliveries of a tenant's (`$3`) oldest waiting events, as many events as fit into a portion with its
 * subscriptions. When these are too many for one event, the next portion continues after them. The row of an event that
 * has been offered to all of them is deleted. It writes nothing when the partition (`$1`) is held under another epoch
 * than `$2`. Returns one row: the endpoints, and the events that are done.
 */
export const portion = `
WITH ${relaxed},
held AS MATERIALIZED (
  SELECT 1 FROM journal_owner WHERE partition = $1::int AND epoch = $2::bigint FOR KEY SHARE
),
crowd AS MATERIALIZED (
  SELECT count(*) AS size FROM (
    SELECT FROM webhook_subscription s WHERE s.tenant_id = $3::uuid AND s.is_active LIMIT (SELECT ${portionSize + 1})
  ) counted
),
task AS MATERIALIZED (
  SELECT f.ordinal, f.after, e.* FROM webhook_fan_out f JOIN event e ON e.id = f.event_id
  WHERE f.partition = $1::int AND f.tenant_id = $3::uuid AND EXISTS (SELECT 1 FROM held)
  ORDER BY f.ordinal LIMIT (SELECT greatest(1, ${portionSize} / greatest(1, size)) FROM crowd) FOR UPDATE OF f
),
subscription AS MATERIALIZED (
  SELECT task.ordinal, s.id, s.event_types, s.connection_id FROM task CROSS JOIN LATERAL (
    SELECT * FROM webhook_subscription s
    WHERE s.tenant_id = $3::uuid AND s.is_active AND s.id > task.after ORDER BY s.id LIMIT (SELECT ${portionSize})
  ) s
),
made AS (
  INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
    status, due_at, created_at)
  SELECT ${DeliveryId.sql({ event: "t.id", occurredAt: "t.occurred_at", endpoint: "s.id" })}, t.tenant_id, t.partition,
    t.id, t.type, s.id, s.id, coalesce(t.lane, t.entity_id), t.sequence, 'queued', now(), now()
  FROM task t JOIN subscription s ON s.ordinal = t.ordinal
  WHERE s.event_types && ARRAY['*', t.type] AND (s.connection_id IS NULL OR s.connection_id = t.route_id)
  ORDER BY t.ordinal, s.id
  ON CONFLICT (event_id, destination) DO NOTHING
  RETURNING destination, tenant_id, partition
),
ending AS MATERIALIZED (
  SELECT size <= ${portionSize} OR (SELECT count(*) FROM subscription) < ${portionSize} AS is_over FROM crowd
),
moved AS (
  UPDATE webhook_fan_out SET after = (SELECT max(id) FROM subscription)
  WHERE ordinal IN (SELECT ordinal FROM task) AND NOT (SELECT is_over FROM ending)
),
done AS (
  DELETE FROM webhook_fan_out
  WHERE ordinal IN (SELECT ordinal FROM task) AND (SELECT is_over FROM ending)
  RETURNING event_id
)
SELECT (SELECT jsonb_agg(jsonb_build_object('endpoint', destination, 'tenantId', tenant_id, 'partition', partition)) FROM made)
  AS endpoints, (SELECT jsonb_agg(event_id) FROM done) AS event_ids
FROM relaxed
`

interface Portion {
  readonly endpoints: ReadonlyArray<WebhookEndpointRef> | null
  readonly eventIds: ReadonlyArray<EventId> | null
}

const beforeAll = "00000000-0000-0000-0000-000000000000"

/**
 * Makes the deliveries of events whose tenants have too many subscriptions for a commit
 * (src/webhook/README.md#fan-out): one portion at a time, tenants in turns, and for at most half of the time. A
 * tenant's events are done one after the other, in the order of their commits. A portion is a transaction, so a crash
 * repeats none and loses none.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly wake: (endpoints: ReadonlyArray<WebhookEndpointRef>) => void
}) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const hinted = Latch.makeUnsafe(false)
  /** The tenant that had the last turn, by partition. */
  const last = new Map<number, string>()

  const tenantAfter = (partition: number, tenant: string) =>
    Effect.map(
      sql.unsafe<{ readonly tenantId: TenantId }>(nextTenant, [partition, tenant]),
      ([row]) => row?.tenantId ?? null
    )

  const spread = Effect.fnUntraced(function* (partition: number, epoch: number, tenantId: TenantId) {
    const [row] = yield* sql.unsafe<Portion>(portion, [partition, epoch, tenantId])
    // The event may have matched no subscription, or all of its deliveries may have failed meanwhile.
    const made = yield* failOver(sql, row?.eventIds ?? [])
    return [...(row?.endpoints ?? []), ...made]
  }, sql.withTransaction)

  /** Makes one portion of each partition; false: no event waits. */
  const pass = Effect.gen(function* () {
    let found = false
    for (const partition of journal.partitions()) {
      const epoch = journal.epoch(partition)
      if (epoch === null) continue
      const before = last.get(partition) ?? beforeAll
      const tenantId =
        (yield* tenantAfter(partition, before)) ??
        (before === beforeAll ? null : yield* tenantAfter(partition, beforeAll))
      if (tenantId === null) {
        last.delete(partition)
        continue
      }
      found = true
      last.set(partition, tenantId)
      options.wake(yield* spread(partition, epoch, tenantId))
    }
    return found
  })

  const said = LogOnce.make({
    fails: "events cannot be fanned out; it is tried again",
    works: "events are fanned out again"
  })
  const look = Effect.gen(function* () {
    Latch.closeUnsafe(hinted)
    const startedAt = yield* Monotonic.now
    const found = yield* Effect.timeout(pass, "30 seconds").pipe(
      Effect.tap(said.worked),
      Effect.catch((error) => Effect.as(said.failed(error.message), null))
    )
    if (found === true) return yield* Effect.sleep((yield* Monotonic.now) - startedAt)
    const pause = Effect.sleep(lookMs)
    yield* found === null ? pause : Effect.raceFirst(pause, Latch.await(hinted))
  })
  yield* Supervised.fork("the fan-out of events to many subscriptions", Effect.forever(look))

  return {
    look: (): void => void Latch.openUnsafe(hinted)
  }
})
