import * as DeliveryId from "./DeliveryId.ts"
import * as ClaimedDeliveries from "./ClaimedDeliveries.ts"
import type { Target } from "../list/ListTable.ts"

/**
 * The parts from which `CommitStatement` builds its statement: one for each table, with the rows that follow from it.
 * Each part asks `owner` whether it may write.
 */

/**
 * The first part of every statement. `home` has the home partition of each tenant of its rows. `owner` has a row when
 * this process holds all of these partitions, so that a statement writes all or nothing.
 */
export const owner = `
home AS MATERIALIZED (
  SELECT id, partition FROM tenant WHERE id = ANY ($3::uuid[])
),
asked AS MATERIALIZED (
  SELECT partition FROM home UNION ALL SELECT unnest($4::int[])
),
held AS MATERIALIZED (
  SELECT o.partition FROM journal_owner o
  WHERE o.partition = ANY (ARRAY(SELECT partition FROM asked))
    AND o.epoch = ($2::bigint[])[array_position($1::int[], o.partition)]
  ORDER BY o.partition FOR KEY SHARE
),
missing AS MATERIALIZED (
  SELECT DISTINCT partition FROM asked WHERE partition <> ALL (ARRAY(SELECT partition FROM held))
),
owner AS MATERIALIZED (
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM missing)
)`

/**
 * A statement makes no more deliveries of a tenant than this, beyond one for each event. When a tenant's events in the
 * batch, times its active subscriptions, come to more, they are fanned out after the commit
 * (`webhook/claim/FanOut.ts`); so are the events of a tenant with earlier ones that still wait for that. Every
 * statement is therefore bounded, whatever a tenant subscribes to.
 */
const directLimit = 64

/** Writes the rows of the parameter `rows`, and the rows that follow from them. Names the parts that others read. */
export type Part = (rows: string) => string

/** The tables that every feature shares, in the order in which a statement writes them. */
export const parts = {
  entities: (rows) => `
written AS MATERIALIZED (
  SELECT r.*, h.partition
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id text, kind text, tenant_id uuid, seq bigint, settled boolean, state_version int,
    state jsonb, at float8, seed text, machine_version int, input jsonb)
    LEFT JOIN home h ON h.id = r.tenant_id
  WHERE EXISTS (SELECT 1 FROM owner)
),
input AS (
  INSERT INTO journal (entity_id, partition, seq, at, seed, machine_version, input)
  SELECT id, partition, seq, to_timestamp(at / 1000.0), seed, machine_version, input FROM written
),
state AS (
  INSERT INTO entity (id, kind, tenant_id, partition, seq, settled, state_version, state, updated_at)
  SELECT id, kind, tenant_id, partition, seq, settled, state_version, state, clock_timestamp() FROM written
  ON CONFLICT (id) DO UPDATE SET seq = EXCLUDED.seq, settled = EXCLUDED.settled,
    state_version = EXCLUDED.state_version, state = EXCLUDED.state, updated_at = EXCLUDED.updated_at
)`,
  elements: (rows) => `
element AS MATERIALIZED (
  SELECT r.* FROM jsonb_to_recordset(${rows}::jsonb) AS r(entity_id text, id text, field text, value jsonb, ordinal int)
  WHERE EXISTS (SELECT 1 FROM owner)
),
elements_gone AS (
  DELETE FROM entity_element e USING element g
  WHERE g.value IS NULL AND e.entity_id = g.entity_id AND (g.id IS NULL OR e.id = g.id)
),
elements_written AS (
  INSERT INTO entity_element (entity_id, id, field, value)
  SELECT entity_id, id, field, value FROM element WHERE value IS NOT NULL ORDER BY entity_id, ordinal
  ON CONFLICT (entity_id, id) DO UPDATE SET value = EXCLUDED.value
)`,
  closed: (rows) => `
closed AS MATERIALIZED (
  SELECT ARRAY(SELECT jsonb_array_elements_text(${rows}::jsonb)) AS endpoints
)`,
  events: (rows) => `
happened AS MATERIALIZED (
  SELECT r.id, r."tenantId" AS tenant_id, o.partition, r."entityId" AS entity_id, r.lane, r.sequence, r.type, r."routeId" AS route_id,
    to_timestamp(r."occurredAt" / 1000.0) AS occurred_at, r.body, r.offered
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id uuid, "tenantId" uuid, "entityId" text, lane text, sequence int, type text,
    "routeId" text, "occurredAt" float8, body text, offered boolean) LEFT JOIN home o ON o.id = r."tenantId"
  WHERE EXISTS (SELECT 1 FROM owner)
),
events AS (
  INSERT INTO event (id, tenant_id, partition, entity_id, lane, sequence, type, route_id, occurred_at, body)
  SELECT id, tenant_id, partition, entity_id, nullif(lane, entity_id), sequence, type, route_id, occurred_at, body FROM happened
),
crowd AS MATERIALIZED (
  SELECT a.tenant_id FROM (SELECT tenant_id, partition, count(*) AS events FROM happened GROUP BY 1, 2) a
    CROSS JOIN LATERAL (
      SELECT count(*) AS subscriptions FROM (
        SELECT FROM webhook_subscription s WHERE s.tenant_id = a.tenant_id AND s.is_active LIMIT (SELECT ${directLimit + 1})
      ) counted
    ) active
    LEFT JOIN LATERAL (
      SELECT true AS waits FROM webhook_fan_out f
      WHERE f.partition = a.partition AND f.tenant_id = a.tenant_id LIMIT (SELECT 1)
    ) earlier ON true
  WHERE active.subscriptions > ${directLimit} OR a.events * (active.subscriptions - 1) > ${directLimit} OR earlier.waits
),
postponed AS (
  INSERT INTO webhook_fan_out (partition, tenant_id, event_id)
  SELECT h.partition, h.tenant_id, h.id FROM happened h WHERE h.tenant_id IN (SELECT tenant_id FROM crowd)
  ORDER BY h.entity_id, h.sequence
),
direct AS MATERIALIZED (
  SELECT * FROM happened WHERE tenant_id NOT IN (SELECT tenant_id FROM crowd)
),
matched AS MATERIALIZED (
  SELECT h.id, h.tenant_id, h.partition, h.entity_id, h.lane, h.sequence, h.type, h.occurred_at, h.offered, s.*
  FROM direct h CROSS JOIN LATERAL (
    SELECT s.id AS subscription_id, s.target_url, s.signing_secret, s.failing_since IS NOT NULL AS is_failing,
      s.event_types, s.connection_id
    FROM webhook_subscription s WHERE s.tenant_id = h.tenant_id AND s.is_active ORDER BY s.id LIMIT (SELECT ${directLimit})
  ) s
  WHERE s.event_types && ARRAY['*', h.type] AND (s.connection_id IS NULL OR s.connection_id = h.route_id)
),
addressed AS MATERIALIZED (
  SELECT a.*, ${DeliveryId.sql({ event: "a.id", occurredAt: "a.occurred_at", endpoint: "a.destination" })} AS delivery_id,
    a.offered AND a.destination <> ALL ((SELECT endpoints FROM closed)::text[]) AND earlier.is_there IS NULL AS is_claimed
  FROM (
    SELECT id, tenant_id, partition, entity_id, lane, sequence, type, occurred_at, offered, subscription_id,
      subscription_id AS destination, target_url, signing_secret AS sealed_secret, is_failing
    FROM matched
    UNION ALL
    SELECT h.id, h.tenant_id, h.partition, h.entity_id, h.lane, h.sequence, h.type, h.occurred_at, h.offered, NULL,
      'failover:' || h.tenant_id, t.webhook_failover_url, t.webhook_failover_secret, false
    FROM direct h JOIN tenant t ON t.id = h.tenant_id AND t.webhook_failover_url IS NOT NULL
    WHERE NOT EXISTS (SELECT 1 FROM matched m WHERE m.id = h.id)
  ) a LEFT JOIN LATERAL (
    SELECT true AS is_there FROM webhook_delivery d
    WHERE a.offered AND d.partition = a.partition AND d.tenant_id = a.tenant_id AND d.destination = a.destination
      AND d.lane = a.lane AND d.due_at IS NOT NULL AND d.in_lane
    LIMIT (SELECT 1)
  ) earlier ON true
),
deliveries AS (
  INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
    attempt_no, status, due_at, created_at)
  SELECT delivery_id, tenant_id, partition, id, type, subscription_id, destination, lane, sequence, is_claimed::int,
    CASE WHEN is_claimed THEN 'sending' ELSE 'queued' END,
    now() + is_claimed::int * ${ClaimedDeliveries.leaseMs} * interval '1 millisecond', now()
  FROM addressed ORDER BY entity_id, sequence
),
waiting AS (
  SELECT DISTINCT destination, tenant_id, partition FROM addressed WHERE NOT is_claimed
  UNION ALL
  SELECT DISTINCT NULL, h.tenant_id, h.partition FROM happened h WHERE h.tenant_id IN (SELECT tenant_id FROM crowd)
)`,
  money: (rows) => `
amounts AS MATERIALIZED (
  SELECT r.*, sum(r."amountCents") OVER (PARTITION BY r."tenantId" ORDER BY r.ordinal) AS running
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(ordinal int, id text, "tenantId" uuid, cause text, type text, "amountCents" bigint,
    description text, "referenceType" text, "referenceId" text, at float8)
  WHERE EXISTS (SELECT 1 FROM owner)
),
totals AS MATERIALIZED (
  SELECT "tenantId" AS tenant_id, sum("amountCents") AS total, max(at) AS at FROM amounts GROUP BY 1
),
locked AS MATERIALIZED (
  SELECT tenant_id FROM balance WHERE tenant_id IN (SELECT tenant_id FROM totals) ORDER BY tenant_id FOR NO KEY UPDATE
),
moved AS (
  UPDATE balance b SET balance_cents = b.balance_cents + t.total, updated_at = to_timestamp(t.at / 1000.0)
  FROM locked l JOIN totals t ON t.tenant_id = l.tenant_id WHERE b.tenant_id = l.tenant_id
  RETURNING b.tenant_id, b.balance_cents - t.total AS before
),
entries AS (
  INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, reference_type, reference_id,
    created_at)
  SELECT a.id, a."tenantId", a.cause, a.type, a."amountCents", m.before + a.running, a.description, a."referenceType",
    a."referenceId", to_timestamp(a.at / 1000.0)
  FROM amounts a LEFT JOIN moved m ON m.tenant_id = a."tenantId" ORDER BY a.ordinal
  RETURNING cause, balance_after_cents
)`,
  receipts: (rows) => `
receipts AS (
  INSERT INTO idempotency (owner, key, method, path, body_hash, status, body, sealed, created_at)
  SELECT r.owner, r.key, r.method, r.path, r."bodyHash", r.status, r.body, r.sealed, to_timestamp(r.at / 1000.0)
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(owner text, key text, method text, path text, "bodyHash" text, status int, body text,
    sealed boolean, at float8)
  WHERE EXISTS (SELECT 1 FROM owner)
  ON CONFLICT (owner, key, method, path) DO UPDATE SET body_hash = EXCLUDED.body_hash, status = EXCLUDED.status,
    body = EXCLUDED.body, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at
  WHERE idempotency.created_at <= EXCLUDED.created_at - interval '24 hours'
)`,
  usage: (rows) => `
used AS (
  INSERT INTO usage_tail (tenant_id, entries)
  SELECT r."tenantId", r.entries FROM jsonb_to_recordset(${rows}::jsonb) AS r("tenantId" uuid, entries jsonb)
  WHERE EXISTS (SELECT 1 FROM owner)
)`,
  audit: (rows) => `
audits AS (
  INSERT INTO audit (id, tenant_id, occurred_at, actor_type, actor_id, actor_name, action, resource_type, resource_id, changes, ip)
  SELECT r.id, r."tenantId", to_timestamp(r.at / 1000.0), r.actor->>'type', r.actor->>'id', r.actor->>'name', r.action,
    r."resourceType", r."resourceId", r.changes, r.ip
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id uuid, "tenantId" uuid, at float8, actor jsonb, action text, "resourceType" text,
    "resourceId" text, changes jsonb, ip text)
  WHERE EXISTS (SELECT 1 FROM owner)
)`
} satisfies Readonly<Record<string, Part>>

/** The part for a list's table, by its columns: a row is inserted once, and then shows its entity's newest state. */
export const list =
  ({ columns, name }: Target): Part =>
  (rows) =>
    `
${name}_list AS (
  INSERT INTO ${name} (${columns.map((column) => column.name).join(", ")})
  SELECT ${columns.map(({ field, type }) => type.written(`r."${field}"`)).join(", ")}
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(${columns.map(({ field, type }) => `"${field}" ${type.sent}`).join(", ")})
  WHERE EXISTS (SELECT 1 FROM owner)
  ON CONFLICT (id) DO UPDATE SET ${columns
    .filter((column) => column.name !== "id")
    .map((column) => `${column.name} = EXCLUDED.${column.name}`)
    .join(", ")}
)`
