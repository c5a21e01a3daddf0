import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Usage (`money/usage/Usage.ts`): a commit leaves what it counts in `usage_tail`, whose rows are soon moved into
 * `usage_detail`, one row for each cause, and added to the sums of their day in `usage_day`. `kind` is what a sum is told
 * apart by: '' for all of a tenant's, or the name of a dimension with its `value`.
 *
 * The version before counted nothing. A job adds what it left behind the start (`telephony/call/stored/UsageBackfill.ts`), from `position`
 * on: calls up to the moment `until`, but those that live now (`others`), and charges up to the ordinal `until`.
 */
export const usage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  const figures = `outbound_calls int NOT NULL, inbound_calls int NOT NULL, answered_calls int NOT NULL, call_seconds bigint NOT NULL,
    billed_minutes bigint NOT NULL, recording_minutes bigint NOT NULL, transcription_minutes bigint NOT NULL,
    conference_participant_minutes bigint NOT NULL, amd_checks int NOT NULL, lookups int NOT NULL, cost_cents bigint NOT NULL`
  yield* sql`
    CREATE TABLE usage_tail (tenant_id uuid NOT NULL, entries jsonb NOT NULL)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`
  yield* sql.unsafe(`
    CREATE TABLE usage_detail (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, at timestamptz NOT NULL, customer_reference text, number text,
      destination text, ${figures}
    )`)
  yield* sql`CREATE INDEX usage_detail_tenant ON usage_detail (tenant_id, at)`
  yield* sql`CREATE INDEX usage_detail_age ON usage_detail (at)`
  yield* sql.unsafe(`
    CREATE TABLE usage_day (
      tenant_id uuid NOT NULL, kind text NOT NULL, day date NOT NULL, value text NOT NULL, ${figures},
      PRIMARY KEY (tenant_id, kind, day, value)
    ) WITH (fillfactor = 70)`)
  yield* sql`CREATE INDEX usage_day_age ON usage_day (day)`
  yield* sql`CREATE TABLE usage_backfill (name text PRIMARY KEY, position text NOT NULL, until text NOT NULL, others text[] NOT NULL)`
  yield* sql`
    INSERT INTO usage_backfill (name, position, until, others)
    SELECT 'calls', '', max(initiated_at)::text, ARRAY(
      SELECT e.id FROM entity e JOIN call c ON c.id = e.id AND c.ended_at IS NULL
      WHERE e.kind = 'call' AND NOT e.settled AND e.partition IN (SELECT partition FROM journal_owner)
    ) FROM call HAVING count(*) > 0`
  yield* sql`
    INSERT INTO usage_backfill (name, position, until, others)
    SELECT 'charges', '0', max(ordinal)::text, '{}' FROM ledger HAVING count(*) > 0`
})
