import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Cards, attempts to charge them, refunds that the operator asked for, auto-recharge, and the events of the processor.
 * Ids of one processor mean nothing to another, so its name stands beside them.
 *
 * `payment_attempt.id` is the id of the ledger entry that it becomes. `slot`: the Idempotency-Key that asked for it, hashed,
 * so that a repetition after a crash goes on with it. `development_payment`: what the processor of an installation
 * without keys remembers.
 */
export const funding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_customer (
      tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, customer_id text NOT NULL,
      created_at timestamptz NOT NULL, PRIMARY KEY (tenant_id, processor), UNIQUE (processor, customer_id)
    )`
  yield* sql`
    CREATE TABLE payment_method (
      id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, processor_id text NOT NULL,
      brand text NOT NULL, last4 text NOT NULL, exp_month int NOT NULL, exp_year int NOT NULL, is_default boolean NOT NULL,
      ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL, removed_at timestamptz
    )`
  yield* sql`CREATE UNIQUE INDEX payment_method_card ON payment_method (processor, processor_id) WHERE removed_at IS NULL`
  yield* sql`
    CREATE UNIQUE INDEX payment_method_default ON payment_method (tenant_id, processor) WHERE is_default AND removed_at IS NULL`
  yield* sql`CREATE INDEX payment_method_tenant ON payment_method (tenant_id, ordinal DESC) WHERE removed_at IS NULL`
  yield* sql`
    CREATE TABLE payment_attempt (
      id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, kind text NOT NULL,
      amount_cents bigint NOT NULL, payment_method_id text NOT NULL, customer_id text NOT NULL, card_id text NOT NULL,
      status text NOT NULL, intent_id text, failure_code text, failure_message text, actor jsonb NOT NULL, ip text, slot text,
      ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL, settled_at timestamptz
    )`
  yield* sql`CREATE INDEX payment_attempt_tenant ON payment_attempt (tenant_id, ordinal DESC)`
  yield* sql`CREATE INDEX payment_attempt_slot ON payment_attempt (slot) WHERE slot IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX payment_attempt_intent ON payment_attempt (processor, intent_id) WHERE intent_id IS NOT NULL`
  yield* sql`CREATE INDEX payment_attempt_pending ON payment_attempt (created_at) WHERE status = 'pending'`
  yield* sql`
    CREATE UNIQUE INDEX payment_attempt_recharge ON payment_attempt (tenant_id, processor)
    WHERE kind = 'auto_recharge' AND status = 'pending'`
  yield* sql`
    CREATE TABLE payment_refund (
      id text PRIMARY KEY, attempt_id text NOT NULL REFERENCES payment_attempt, tenant_id uuid NOT NULL, amount_cents bigint NOT NULL,
      status text NOT NULL, refund_id text, failure text, reason text, created_at timestamptz NOT NULL, settled_at timestamptz
    )`
  yield* sql`CREATE UNIQUE INDEX payment_refund_pending ON payment_refund (attempt_id) WHERE status = 'pending'`
  yield* sql`
    CREATE TABLE auto_recharge (
      tenant_id uuid PRIMARY KEY REFERENCES tenant, enabled boolean NOT NULL, threshold_cents bigint, amount_cents bigint,
      payment_method_id text, disabled_reason text, failures int NOT NULL DEFAULT 0, next_try_at timestamptz,
      last_attempt_at timestamptz, last_attempt_status text, updated_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE TABLE processor_event (
      id text NOT NULL, processor text NOT NULL, type text NOT NULL, subject_type text, subject_id text,
      received_at timestamptz NOT NULL, PRIMARY KEY (processor, id)
    )`
  yield* sql`
    CREATE TABLE payment_reconciliation (
      tenant_id uuid PRIMARY KEY REFERENCES tenant, charged_cents bigint NOT NULL, refunded_cents bigint NOT NULL,
      difference_cents bigint NOT NULL, exceptions jsonb NOT NULL, checked_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE TABLE development_payment (
      id text PRIMARY KEY, type text NOT NULL, customer_id text, attempt_id text, key text UNIQUE, body jsonb NOT NULL,
      ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX development_payment_customer ON development_payment (customer_id, type)`
})
