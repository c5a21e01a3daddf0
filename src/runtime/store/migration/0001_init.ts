import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The first schema. Money is whole cents; times are `timestamptz`; every row of a tenant carries its id.
 *
 * `journal`, `entity`, `call`, `event`, `webhook_delivery`, `ledger`, `balance`, `idempotency` and `audit` are written
 * by the commit statement (`runtime/store/journal/CommitStatement.ts`); the others by their features.
 */
export const init = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statements = `
-- who may write: one row; each commit locks it FOR SHARE, a new owner raises it
CREATE TABLE journal_owner (partition int PRIMARY KEY, epoch bigint NOT NULL, heartbeat_at timestamptz);
INSERT INTO journal_owner (partition, epoch) VALUES (0, 0);

CREATE TABLE tenant (
  id uuid PRIMARY KEY, name text NOT NULL, slug text NOT NULL UNIQUE, status text NOT NULL,
  suspension_reason text, legal_name text, country text, company_size text, industry text, use_case text,
  webhook_failover_url text, webhook_failover_secret text,
  created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
);
CREATE TABLE member (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, email text NOT NULL UNIQUE, password_hash text NOT NULL,
  first_name text NOT NULL, last_name text NOT NULL, role text NOT NULL, email_verified_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE TABLE email_token (
  token_hash text PRIMARY KEY, member_id uuid NOT NULL REFERENCES member, purpose text NOT NULL,
  expires_at timestamptz NOT NULL, used_at timestamptz, created_at timestamptz NOT NULL
);
CREATE TABLE api_key (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, prefix text NOT NULL,
  salt text NOT NULL, hash text NOT NULL, scopes text[] NOT NULL, last_used_at timestamptz, last_used_ip text,
  expires_at timestamptz, revoked_at timestamptz, created_at timestamptz NOT NULL
);
CREATE INDEX api_key_prefix ON api_key (prefix);
CREATE INDEX api_key_tenant ON api_key (tenant_id, created_at DESC, id);

-- the account's settings; balance_cents is moved by the commit statement only
CREATE TABLE balance (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, balance_cents bigint NOT NULL, credit_limit_cents bigint NOT NULL DEFAULT 0,
  auto_recharge_threshold_cents bigint, auto_recharge_amount_cents bigint, updated_at timestamptz NOT NULL
);
CREATE TABLE ledger (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, cause text NOT NULL UNIQUE, type text NOT NULL, amount_cents bigint NOT NULL,
  balance_after_cents bigint NOT NULL, description text NOT NULL, reference_type text, reference_id text,
  ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL
);
CREATE INDEX ledger_tenant ON ledger (tenant_id, ordinal DESC);
CREATE INDEX ledger_spend ON ledger (tenant_id, created_at) WHERE amount_cents < 0;

-- entities: the newest state, and every input that made it. Room on their pages keeps new versions of entities and calls
-- beside the old ones, out of the indexes
CREATE TABLE entity (
  id text PRIMARY KEY, kind text NOT NULL, tenant_id uuid NOT NULL, seq bigint NOT NULL, settled boolean NOT NULL,
  state_version int NOT NULL, state jsonb NOT NULL, updated_at timestamptz NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX entity_unsettled ON entity (kind) WHERE NOT settled;
CREATE TABLE journal (
  entity_id text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL, seed text NOT NULL, machine_version int NOT NULL,
  input jsonb NOT NULL, PRIMARY KEY (entity_id, seq)
);

-- columns that lists filter and show; the whole call is in its entity
CREATE TABLE call (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, direction text NOT NULL, status text NOT NULL, from_number text NOT NULL,
  to_number text NOT NULL, route_id text NOT NULL, initiated_at timestamptz NOT NULL, answered_at timestamptz,
  ended_at timestamptz, duration_seconds int NOT NULL, end_reason text, end_initiator text, customer_reference text,
  cost_cents bigint, rating_status text NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX call_tenant ON call (tenant_id, initiated_at DESC, id DESC);

CREATE TABLE event (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL, entity_id text NOT NULL, sequence int NOT NULL, type text NOT NULL,
  route_id text, occurred_at timestamptz NOT NULL, body text NOT NULL
);
CREATE INDEX event_entity ON event (entity_id, sequence);

CREATE TABLE webhook_subscription (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, target_url text NOT NULL, event_types text[] NOT NULL,
  description text, connection_id text, signing_secret text NOT NULL, is_active boolean NOT NULL, created_at timestamptz NOT NULL
);
CREATE INDEX webhook_subscription_tenant ON webhook_subscription (tenant_id, created_at DESC, id);

-- one row per (event, subscription); subscription_id null: the tenant's failover URL.
-- destination: the subscription's id, or 'failover:' and the tenant's id; lane: deliveries of one lane go one at a time
CREATE TABLE webhook_delivery (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL, event_id uuid NOT NULL, event_type text NOT NULL, subscription_id text,
  destination text NOT NULL, lane text NOT NULL, sequence int NOT NULL, attempt_no int NOT NULL DEFAULT 0, status text NOT NULL,
  due_at timestamptz, response_status_code int, response_body_snippet text, error_message text, sent_at timestamptz,
  next_retry_at timestamptz, created_at timestamptz NOT NULL, ordinal bigint GENERATED ALWAYS AS IDENTITY
);
CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (event_id, destination);
-- due_at is when a delivery may be claimed (a claim moves it behind its lease); null: finished
CREATE INDEX webhook_delivery_due ON webhook_delivery (destination, due_at, ordinal) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_delivery_tenant ON webhook_delivery (tenant_id, ordinal DESC);
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);

CREATE TABLE idempotency (
  owner text NOT NULL, key text NOT NULL, method text NOT NULL, path text NOT NULL, body_hash text NOT NULL,
  status int NOT NULL, body text, sealed boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL,
  PRIMARY KEY (owner, key, method, path)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE audit (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL, occurred_at timestamptz NOT NULL, actor_type text NOT NULL, actor_id text,
  actor_name text, action text NOT NULL, resource_type text NOT NULL, resource_id text NOT NULL, changes jsonb NOT NULL,
  ip text, ordinal bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX audit_tenant ON audit (tenant_id, ordinal DESC);

-- routes (connections): the adapter and its configuration; password sealed
CREATE TABLE route (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, is_default boolean NOT NULL,
  status text NOT NULL, adapter text NOT NULL, host text, port int, username text, password text, created_at timestamptz NOT NULL
);
CREATE INDEX route_tenant ON route (tenant_id, created_at, id);
CREATE UNIQUE INDEX route_default ON route (tenant_id) WHERE is_default;
CREATE INDEX route_host ON route (host) WHERE adapter = 'sip';

-- the operator's inventory (a number that nobody owns), and the numbers of tenants
CREATE TABLE inventory (
  phone_number text PRIMARY KEY, country_code text NOT NULL, number_type text NOT NULL, national_destination_code text,
  region text, locality text, rate_center text, features text[] NOT NULL,
  upfront_cost_cents bigint NOT NULL, monthly_cost_cents bigint NOT NULL
);
CREATE INDEX inventory_country ON inventory (country_code, number_type, phone_number);
CREATE TABLE number_order (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, status text NOT NULL, country_code text NOT NULL,
  number_type text NOT NULL, phone_numbers jsonb NOT NULL, upfront_cost_cents bigint NOT NULL, monthly_cost_cents bigint NOT NULL,
  refunded_cents bigint NOT NULL DEFAULT 0, route_id text, customer_reference text, created_at timestamptz NOT NULL, completed_at timestamptz
);
CREATE INDEX number_order_tenant ON number_order (tenant_id, created_at DESC, id);
CREATE INDEX number_order_pending ON number_order (created_at) WHERE status = 'pending';
CREATE TABLE phone_number (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, phone_number text NOT NULL, country_code text NOT NULL,
  number_type text NOT NULL, status text NOT NULL, name text, route_id text, features text[] NOT NULL,
  customer_reference text, tags text[] NOT NULL DEFAULT '{}', order_id text, upfront_cost_cents bigint NOT NULL,
  monthly_cost_cents bigint NOT NULL, next_renewal_at timestamptz, activated_at timestamptz, released_at timestamptz,
  created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
);
-- a number has one living owner
CREATE UNIQUE INDEX phone_number_owned ON phone_number (phone_number) WHERE status IN ('pending', 'active', 'port_pending');
CREATE INDEX phone_number_tenant ON phone_number (tenant_id, created_at DESC, id);

-- rate deck and destination lists; tenant_id null: everybody
CREATE TABLE rate (
  direction text NOT NULL, prefix text NOT NULL, micro_usd_per_minute bigint NOT NULL, PRIMARY KEY (direction, prefix)
);
CREATE TABLE destination_rule (
  id uuid PRIMARY KEY, tenant_id uuid, kind text NOT NULL, value text NOT NULL, created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX destination_rule_once ON destination_rule (kind, value, COALESCE(tenant_id, '00000000-0000-0000-0000-000000000000'));
`
  for (const statement of statements.split(/;\s*\n/)) {
    if (statement.trim() !== "") yield* sql.unsafe(statement)
  }
})
