import type { Commit } from "./Journal.ts"

/**
 * The one statement that writes a batch of commits (house, "One writer, one owner" and "Fan-out").
 *
 * Parameters: `$1` the epoch this process holds, then one JSON array as text for each table that the batch writes. The
 * epoch row is locked `FOR SHARE`; under an older epoch nothing is written and `owner` is 0. Money is summed in order
 * within the batch, so that each ledger row knows its `balance_after_cents`. Deliveries are a join with the active
 * subscriptions of the event's tenant; an event that matches none goes to the tenant's failover URL (decision C57).
 * A receipt never takes the place of one that is still good.
 *
 * Answers one row: `owner` (0 or 1), `balances` (cause → balance after), `destinations` (what the dispatcher may wake).
 */
/** The tables that a commit writes, in the order of their parameters. */
const tables = ["entities", "calls", "events", "money", "receipts", "audit"] as const
type Table = (typeof tables)[number]

const owner = `
owner AS MATERIALIZED (
  SELECT 1 FROM journal_owner WHERE partition = 0 AND epoch = $1::bigint FOR SHARE
)`

/** What writes one table and what follows from it; `rows` is the parameter that holds its rows. */
const parts: Readonly<Record<Table, (rows: string) => string>> = {
  entities: (rows) => `
input AS (
  INSERT INTO journal (entity_id, seq, at, seed, machine_version, input)
  SELECT r.id, r.seq, to_timestamp(r.at / 1000.0), r.seed, r.machine_version, r.input
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id text, seq bigint, at float8, seed text, machine_version int, input jsonb)
  WHERE EXISTS (SELECT 1 FROM owner)
),
state AS (
  INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at)
  SELECT r.id, r.kind, r.tenant_id, r.seq, r.settled, r.state_version, r.state, to_timestamp(r.at / 1000.0)
  FROM jsonb_to_recordset(${rows}::jsonb)
    AS r(id text, kind text, tenant_id uuid, seq bigint, settled boolean, state_version int, state jsonb, at float8)
  WHERE EXISTS (SELECT 1 FROM owner)
  ON CONFLICT (id) DO UPDATE SET seq = EXCLUDED.seq, settled = EXCLUDED.settled,
    state_version = EXCLUDED.state_version, state = EXCLUDED.state, updated_at = EXCLUDED.updated_at
)`,
  calls: (rows) => `
calls AS (
  INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at, answered_at, ended_at,
    duration_seconds, end_reason, end_initiator, customer_reference, cost_cents, rating_status)
  SELECT r.id, r."tenantId", r.direction, r.status, r."fromNumber", r."toNumber", r."routeId",
    to_timestamp(r."initiatedAt" / 1000.0), to_timestamp(r."answeredAt" / 1000.0), to_timestamp(r."endedAt" / 1000.0),
    r."durationSeconds", r."endReason", r."endInitiator", r."customerReference", r."costCents", r."ratingStatus"
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id text, "tenantId" uuid, direction text, status text, "fromNumber" text,
    "toNumber" text, "routeId" text, "initiatedAt" float8, "answeredAt" float8, "endedAt" float8, "durationSeconds" int,
    "endReason" text, "endInitiator" text, "customerReference" text, "costCents" bigint, "ratingStatus" text)
  WHERE EXISTS (SELECT 1 FROM owner)
  ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status, answered_at = EXCLUDED.answered_at, ended_at = EXCLUDED.ended_at,
    duration_seconds = EXCLUDED.duration_seconds, end_reason = EXCLUDED.end_reason, end_initiator = EXCLUDED.end_initiator,
    cost_cents = EXCLUDED.cost_cents, rating_status = EXCLUDED.rating_status
)`,
  events: (rows) => `
happened AS MATERIALIZED (
  SELECT r.id, r."tenantId" AS tenant_id, r."entityId" AS entity_id, r.sequence, r.type, r."routeId" AS route_id,
    to_timestamp(r."occurredAt" / 1000.0) AS occurred_at, r.body
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id uuid, "tenantId" uuid, "entityId" text, sequence int, type text, "routeId" text,
    "occurredAt" float8, body text)
  WHERE EXISTS (SELECT 1 FROM owner)
),
events AS (
  INSERT INTO event (id, tenant_id, entity_id, sequence, type, route_id, occurred_at, body)
  SELECT id, tenant_id, entity_id, sequence, type, route_id, occurred_at, body FROM happened
),
matched AS MATERIALIZED (
  SELECT h.id, h.tenant_id, h.entity_id, h.sequence, h.type, s.id AS subscription_id
  FROM happened h JOIN webhook_subscription s ON s.tenant_id = h.tenant_id AND s.is_active
    AND s.event_types && ARRAY['*', h.type] AND (s.connection_id IS NULL OR s.connection_id = h.route_id)
),
addressed AS MATERIALIZED (
  SELECT id, tenant_id, entity_id, sequence, type, subscription_id, subscription_id AS destination FROM matched
  UNION ALL
  SELECT h.id, h.tenant_id, h.entity_id, h.sequence, h.type, NULL, 'failover:' || h.tenant_id
  FROM happened h JOIN tenant t ON t.id = h.tenant_id AND t.webhook_failover_url IS NOT NULL
  WHERE NOT EXISTS (SELECT 1 FROM matched m WHERE m.id = h.id)
),
deliveries AS (
  INSERT INTO webhook_delivery (id, tenant_id, event_id, event_type, subscription_id, destination, lane, sequence, status,
    due_at, created_at)
  SELECT gen_random_uuid(), tenant_id, id, type, subscription_id, destination, entity_id, sequence, 'queued', now(), now()
  FROM addressed ORDER BY entity_id, sequence
)`,
  money: (rows) => `
amounts AS MATERIALIZED (
  SELECT r.*, sum(r."amountCents") OVER (PARTITION BY r."tenantId" ORDER BY r.ordinal) AS running
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(ordinal int, id text, "tenantId" uuid, cause text, type text, "amountCents" bigint,
    description text, "referenceType" text, "referenceId" text, at float8)
  WHERE EXISTS (SELECT 1 FROM owner)
),
totals AS MATERIALIZED (
  SELECT "tenantId" AS tenant_id, sum("amountCents") AS total, max(at) AS at FROM amounts GROUP BY 1 ORDER BY 1
),
moved AS (
  UPDATE balance b SET balance_cents = b.balance_cents + t.total, updated_at = to_timestamp(t.at / 1000.0)
  FROM totals t WHERE b.tenant_id = t.tenant_id
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
  audit: (rows) => `
audits AS (
  INSERT INTO audit (id, tenant_id, occurred_at, actor_type, actor_id, actor_name, action, resource_type, resource_id, changes, ip)
  SELECT r.id, r."tenantId", to_timestamp(r.at / 1000.0), r.actor->>'type', r.actor->>'id', r.actor->>'name', r.action,
    r."resourceType", r."resourceId", r.changes, r.ip
  FROM jsonb_to_recordset(${rows}::jsonb) AS r(id uuid, "tenantId" uuid, at float8, actor jsonb, action text, "resourceType" text,
    "resourceId" text, changes jsonb, ip text)
  WHERE EXISTS (SELECT 1 FROM owner)
)`
}

/**
 * The statement for a batch that writes these tables. What a batch does not write costs it nothing: at a few hundred
 * events a second a batch holds two or three, and starting a plan with every table takes longer than writing them.
 * There are as many statements as there are combinations in use, each prepared once for a connection.
 */
const textFor = (written: ReadonlyArray<Table>): string => `
WITH ${[owner, ...written.map((table, index) => parts[table](`$${index + 2}`))].join(",")}
SELECT (SELECT count(*)::int FROM owner) AS owner,
  ${written.includes("money") ? "(SELECT jsonb_object_agg(cause, balance_after_cents) FROM entries)" : "NULL::jsonb"} AS balances,
  ${
    written.includes("events")
      ? "(SELECT jsonb_agg(DISTINCT jsonb_build_object('destination', destination, 'tenantId', tenant_id)) FROM addressed)"
      : "NULL::jsonb"
  } AS destinations
`

const texts = new Map<string, string>()

export interface Statement {
  readonly text: string
  readonly parameters: ReadonlyArray<string>
}

/** A string that Postgres can hold: no NUL (jsonb and text refuse it), no lone surrogate (jsonb refuses it). */
const storable = (value: string): string => value.toWellFormed().replaceAll("\u0000", "\ufffd")

const replaceUnstorable = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? storable(value) : value

const suspicious = /\\u(?:0000|d[89a-f])/i

/** JSON text that no byte of a tenant's can make Postgres refuse: one bad string must not fail a batch of others. */
export const encode = (rows: ReadonlyArray<unknown>): string => {
  const text = JSON.stringify(rows)
  return suspicious.test(text) ? JSON.stringify(rows, replaceUnstorable) : text
}

/** The statement of a batch. No two commits of a batch may write the same entity. */
export const make = (epoch: number, batch: ReadonlyArray<Commit>): Statement => {
  const rows = rowsOf(batch)
  const written = tables.filter((table) => rows[table].length > 0)
  const shape = written.join()
  const text = texts.get(shape) ?? textFor(written)
  texts.set(shape, text)
  return { text, parameters: [String(epoch), ...written.map((table) => encode(rows[table]))] }
}

const rowsOf = (batch: ReadonlyArray<Commit>): Readonly<Record<Table, ReadonlyArray<unknown>>> => {
  const entities: Array<unknown> = []
  const calls: Array<unknown> = []
  const events: Array<unknown> = []
  const money: Array<unknown> = []
  const receipts: Array<unknown> = []
  const audit: Array<unknown> = []
  for (const commit of batch) {
    const entity = commit.entity
    if (entity !== null)
      entities.push({
        id: entity.id,
        kind: entity.kind,
        tenant_id: entity.tenantId,
        seq: entity.seq,
        settled: entity.settled,
        state_version: entity.stateVersion,
        state: entity.state,
        at: entity.input.at,
        seed: entity.input.seed,
        machine_version: entity.input.machineVersion,
        input: entity.input.body
      })
    if (commit.call !== null) calls.push(commit.call)
    for (const event of commit.events) events.push(event)
    for (const row of commit.money) money.push({ ...row, ordinal: money.length })
    if (commit.receipt !== null) receipts.push(commit.receipt)
    for (const row of commit.audit) audit.push(row)
  }
  return { entities, calls, events, money, receipts, audit }
}
