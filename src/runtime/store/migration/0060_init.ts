import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The schema, by feature. Money is whole cents where a name does not say micro-USD. Every row of a tenant carries its
 * id.
 *
 * The commit statement (`runtime/store/journal/CommitParts.ts`) writes entities and their journal, events, deliveries,
 * the lists, the ledger, balances, usage, receipts and audit lines. Features write the other tables.
 */

/** Partitions and their owners, and what each process leaves for the next one. */
const ownership = `
-- One row for each partition. A commit locks its row FOR KEY SHARE, and a new owner raises the epoch, so a process that
-- lost the partition writes nothing more. The unique index makes raising an epoch a change of a key, which waits for
-- those commits; a heartbeat changes no key and does not wait. time_ms is the partition's time at the last heartbeat;
-- alive_ms is the time up to which calls of a dead owner are billed. holder is the data directory of the owner.
-- ended_epoch is the last epoch that ended with a clean stop. deliveries_ahead_ms is how far the database's clock
-- was ahead of the partition's time when deliveries last followed it; null: never.
CREATE TABLE journal_owner (
  partition int PRIMARY KEY, epoch bigint NOT NULL, heartbeat_at timestamptz, time_ms float8, alive_ms float8,
  holder text, ended_epoch bigint, deliveries_ahead_ms float8
);
CREATE UNIQUE INDEX journal_owner_epoch ON journal_owner (partition, epoch);
INSERT INTO journal_owner (partition, epoch) VALUES (0, 0);

-- The token of the last transaction that each session committed, so that the outcome of a COMMIT can be read when its
-- answer was lost.
CREATE TABLE transaction_witness (
  backend text PRIMARY KEY, token text NOT NULL, at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A row that is replaced to see whether writing works. Plain storage keeps it at its full size.
CREATE TABLE write_probe (filler text NOT NULL);
ALTER TABLE write_probe ALTER COLUMN filler SET STORAGE PLAIN;

-- One constant text for each key of the vault under which rows may be sealed.
CREATE TABLE vault_check (sealed text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now());

-- The moment before which rows of a kind may be deleted already. The indexes by age are built after the start, beside
-- the traffic (runtime/retention/Retained.ts).
CREATE TABLE retention (name text PRIMARY KEY, pruned_until timestamptz NOT NULL);

-- Work that a row makes due (runtime/job/Jobs.ts). due_at is when a row may be claimed (a claim moves it after its
-- lease); null: the job has failed for good. tenant_id is the nil UUID for the service's own work. leased_by is the
-- epoch that claimed it; null: unclaimed.
CREATE TABLE job (
  kind text NOT NULL, key text NOT NULL, partition int NOT NULL, tenant_id uuid NOT NULL, due_at timestamptz,
  attempt int NOT NULL DEFAULT 0, leased_by bigint, last_error text, failed_at timestamptz,
  created_at timestamptz NOT NULL, PRIMARY KEY (kind, key)
) WITH (fillfactor = 80);
CREATE INDEX job_due ON job (partition, kind, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX job_failed ON job (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX job_turn ON job (partition, kind, tenant_id, due_at) WHERE due_at IS NOT NULL;
`

/** Tenants, their members and keys, and letters to them. */
const tenants = `
-- Everything of a tenant lives in its partition.
CREATE TABLE tenant (
  id uuid PRIMARY KEY, name text NOT NULL, slug text NOT NULL UNIQUE, status text NOT NULL, suspension_reason text,
  legal_name text, country text, company_size text, industry text, use_case text, webhook_failover_url text,
  webhook_failover_secret text, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
  partition int NOT NULL DEFAULT 0
);

-- A member's email is in the canonical spelling of domain/EmailAddress.ts. status decides whether the member may
-- act and gets letters.
CREATE TABLE member (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, email text NOT NULL UNIQUE,
  password_hash text NOT NULL, first_name text NOT NULL, last_name text NOT NULL, role text NOT NULL,
  email_verified_at timestamptz, created_at timestamptz NOT NULL, status text NOT NULL DEFAULT 'active',
  last_login_at timestamptz
);
CREATE INDEX member_tenant ON member (tenant_id, created_at DESC, id);

CREATE TABLE email_token (
  token_hash text PRIMARY KEY, member_id uuid NOT NULL REFERENCES member, purpose text NOT NULL,
  expires_at timestamptz NOT NULL, used_at timestamptz, created_at timestamptz NOT NULL
);

CREATE TABLE invitation (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, email text NOT NULL, role text NOT NULL,
  token_hash text NOT NULL UNIQUE, invited_by uuid, status text NOT NULL, expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX invitation_tenant ON invitation (tenant_id, created_at DESC, id);

-- A key opens nothing once its member is removed. is_login: a login made it.
CREATE TABLE api_key (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, prefix text NOT NULL,
  salt text NOT NULL, hash text NOT NULL, scopes text[] NOT NULL, last_used_at timestamptz, last_used_ip text,
  expires_at timestamptz, revoked_at timestamptz, created_at timestamptz NOT NULL, member_id uuid,
  is_login boolean NOT NULL DEFAULT false
);
CREATE INDEX api_key_member ON api_key (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX api_key_prefix ON api_key (prefix);
CREATE INDEX api_key_tenant ON api_key (tenant_id, created_at DESC, id);

-- The identities of addresses that had a trial credit (tenancy/tenant/AddressIdentity.ts), hashed.
CREATE TABLE trial_credit (
  identity_hash text PRIMARY KEY, tenant_id uuid NOT NULL UNIQUE REFERENCES tenant, given_at timestamptz NOT NULL
);

-- The outbox of letters, keyed by the cause of each. content is sealed, and null when the letter is finished.
CREATE TABLE letter (
  cause text PRIMARY KEY, tenant_id uuid, to_name text NOT NULL, to_address text NOT NULL, content text,
  status text NOT NULL, detail text, until timestamptz, created_at timestamptz NOT NULL, ended_at timestamptz
);
`

/** The newest state of each entity, and every input that led to it. */
const entities = `
-- Free room on the pages keeps new versions of a row beside the old ones, so that they need no new index entries.
CREATE TABLE entity (
  id text PRIMARY KEY, kind text NOT NULL, tenant_id uuid NOT NULL, seq bigint NOT NULL, settled boolean NOT NULL,
  state_version int NOT NULL, state jsonb NOT NULL, updated_at timestamptz NOT NULL, partition int NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX entity_tenant_unsettled ON entity (tenant_id) WHERE NOT settled;
CREATE INDEX entity_unsettled ON entity (partition, kind) WHERE NOT settled;

-- Tables that lose thousands of old rows every few minutes are vacuumed before a fifth of their rows is dead.
CREATE TABLE journal (
  entity_id text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL, seed text NOT NULL,
  machine_version int NOT NULL, input jsonb NOT NULL, partition int NOT NULL, PRIMARY KEY (entity_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The key under which secrets in the inputs and states of an entity are sealed, itself sealed by the vault. Without its
-- row they cannot be read any more.
CREATE TABLE call_key (id text PRIMARY KEY, tenant_id uuid NOT NULL, key text NOT NULL);
`

/** Events and their deliveries (src/webhook/README.md#fan-out). */
const events = `
CREATE TABLE event (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL, entity_id text NOT NULL, sequence int NOT NULL, type text NOT NULL,
  route_id text, occurred_at timestamptz NOT NULL, body text NOT NULL, partition int NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX event_entity ON event (entity_id, sequence);

-- failing_since is when an endpoint began to fail without a success since then; null: its last attempt succeeded.
CREATE TABLE webhook_subscription (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, target_url text NOT NULL,
  event_types text[] NOT NULL, description text, connection_id text, signing_secret text NOT NULL,
  is_active boolean NOT NULL, created_at timestamptz NOT NULL, failing_since timestamptz,
  failed_attempts int NOT NULL DEFAULT 0
);
CREATE INDEX webhook_subscription_active ON webhook_subscription (tenant_id, id) WHERE is_active;
CREATE INDEX webhook_subscription_tenant ON webhook_subscription (tenant_id, created_at DESC, id);

-- One row for each event and destination: the id of a subscription, or 'failover:' and the id of the tenant, whose
-- subscription_id is null. The deliveries of one lane are made one after another. in_lane: the first attempt has not
-- ended, and holds up the later ones of its lane. due_at is when a delivery may be claimed (a claim moves it after its
-- lease); null: finished. An unfinished delivery is in one of the two partial indexes, of lanes or of retries.
CREATE TABLE webhook_delivery (
  id uuid PRIMARY KEY, tenant_id uuid NOT NULL, event_id uuid NOT NULL, event_type text NOT NULL,
  subscription_id text, destination text NOT NULL, lane text NOT NULL, sequence int NOT NULL,
  attempt_no int NOT NULL DEFAULT 0, status text NOT NULL, due_at timestamptz, response_status_code int,
  response_body_snippet text, error_message text, sent_at timestamptz, next_retry_at timestamptz,
  created_at timestamptz NOT NULL, ordinal bigint GENERATED ALWAYS AS IDENTITY, partition int NOT NULL,
  in_lane boolean NOT NULL DEFAULT true
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX webhook_delivery_lane ON webhook_delivery (partition, tenant_id, destination, lane, sequence, ordinal)
  WHERE due_at IS NOT NULL AND in_lane;
CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (event_id, destination);
CREATE INDEX webhook_delivery_retry ON webhook_delivery (partition, tenant_id, destination, due_at, ordinal)
  WHERE due_at IS NOT NULL AND NOT in_lane;
CREATE INDEX webhook_delivery_tenant ON webhook_delivery (tenant_id, ordinal DESC);

-- An event whose deliveries are still to be made, for subscriptions after after.
CREATE TABLE webhook_fan_out (
  ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, partition int NOT NULL, tenant_id uuid NOT NULL,
  event_id uuid NOT NULL UNIQUE, after text NOT NULL DEFAULT '', created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_fan_out_turn ON webhook_fan_out (partition, tenant_id, ordinal);

-- A range of deliveries that are made again, done up to position in their order.
CREATE TABLE webhook_redelivery (
  subscription_id text PRIMARY KEY, tenant_id uuid NOT NULL, status text NOT NULL, created_after timestamptz NOT NULL,
  created_before timestamptz NOT NULL, position bigint NOT NULL DEFAULT 0, portions int NOT NULL DEFAULT 0
);
`

/** First responses to idempotent requests, and the audit log. The operator's changes for all are lines of no tenant. */
const requests = `
CREATE TABLE idempotency (
  owner text NOT NULL, key text NOT NULL, method text NOT NULL, path text NOT NULL, body_hash text NOT NULL,
  status int NOT NULL, body text, sealed boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL,
  PRIMARY KEY (owner, key, method, path)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE audit (
  id uuid PRIMARY KEY, tenant_id uuid, occurred_at timestamptz NOT NULL, actor_type text NOT NULL, actor_id text,
  actor_name text, action text NOT NULL, resource_type text NOT NULL, resource_id text NOT NULL,
  changes jsonb NOT NULL, ip text, ordinal bigint GENERATED ALWAYS AS IDENTITY
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX audit_service ON audit (ordinal DESC) WHERE tenant_id IS NULL;
CREATE INDEX audit_tenant ON audit (tenant_id, ordinal DESC);
`

/** Balances, prices, seals, plans and invoices. */
const money = `
-- Only the commit statement changes balance_cents.
CREATE TABLE balance (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, balance_cents bigint NOT NULL,
  credit_limit_cents bigint NOT NULL DEFAULT 0, auto_recharge_threshold_cents bigint,
  auto_recharge_amount_cents bigint, updated_at timestamptz NOT NULL
);

-- The index ledger_card finds the few entries that moved money at the card processor.
CREATE TABLE ledger (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, cause text NOT NULL UNIQUE, type text NOT NULL,
  amount_cents bigint NOT NULL, balance_after_cents bigint NOT NULL, description text NOT NULL, reference_type text,
  reference_id text, ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL
);
CREATE INDEX ledger_card ON ledger (tenant_id) WHERE type IN ('topup', 'auto_recharge') OR reference_type = 'topup';
CREATE INDEX ledger_spend ON ledger (tenant_id, created_at) WHERE amount_cents < 0;
CREATE INDEX ledger_tenant ON ledger (tenant_id, ordinal DESC);

-- A row for each limit of its money that a tenant got a letter about, until it is crossed back or the row is old.
CREATE TABLE account_alarm (
  tenant_id uuid NOT NULL, kind text NOT NULL, period text NOT NULL, told_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, kind, period)
);
CREATE INDEX account_alarm_age ON account_alarm (told_at);

-- Each rate deck holds from effective_at on. Deck 0 holds from the beginning.
CREATE TABLE rate_deck (
  id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, effective_at timestamptz NOT NULL,
  imported_at timestamptz NOT NULL, rows int NOT NULL
);
INSERT INTO rate_deck (id, effective_at, imported_at, rows) VALUES (0, to_timestamp(0), now(), 0);

CREATE TABLE rate (
  direction text NOT NULL, prefix text NOT NULL, micro_usd_per_minute bigint NOT NULL, deck int NOT NULL,
  PRIMARY KEY (deck, direction, prefix)
);

-- Prices of work on a call, a minute or a check. Work without a row is free.
CREATE TABLE work_price (kind text PRIMARY KEY, micro_usd bigint NOT NULL CHECK (micro_usd >= 0));

-- Destinations that calls may or may not go to; tenant_id null: for all tenants.
CREATE TABLE destination_rule (
  id uuid PRIMARY KEY, tenant_id uuid, kind text NOT NULL, value text NOT NULL, created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX destination_rule_once ON destination_rule
  (kind, value, coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'));

-- Seals of the ledger are kept for ever: one for each tenant and round, up to through_ordinal. total_entries,
-- balance_cents, calls_rated and calls_debited count from the tenant's beginning, with calls that began before
-- calls_until.
CREATE TABLE ledger_seal (
  tenant_id uuid NOT NULL REFERENCES tenant, number int NOT NULL, day date NOT NULL, through_ordinal bigint NOT NULL,
  through_at timestamptz NOT NULL, entries bigint NOT NULL, credits_cents bigint NOT NULL,
  debits_cents bigint NOT NULL, balance_before_cents bigint NOT NULL, balance_cents bigint NOT NULL,
  total_entries bigint NOT NULL, chain_hash text NOT NULL, calls_rated bigint NOT NULL, calls_debited bigint NOT NULL,
  calls_until timestamptz NOT NULL, PRIMARY KEY (tenant_id, number)
);
CREATE UNIQUE INDEX ledger_seal_day ON ledger_seal (day, tenant_id);

-- The root of a round. version says what its hash covers (money/proof/Chain.ts).
CREATE TABLE ledger_seal_root (
  number int PRIMARY KEY, day date NOT NULL UNIQUE, seals int NOT NULL, entries bigint NOT NULL,
  root_hash text NOT NULL, sealed_at timestamptz NOT NULL, version int NOT NULL DEFAULT 1
);

CREATE TABLE plan (
  slug text PRIMARY KEY, name text NOT NULL, description text, is_public boolean NOT NULL,
  monthly_fee_cents bigint NOT NULL, included jsonb NOT NULL, concurrent_call_limit int,
  max_conference_participants int, created_at timestamptz NOT NULL
);

-- included is that of the period, and used what was taken of it. The debits up to through_ordinal of the tenant's
-- ledger have been counted.
CREATE TABLE plan_subscription (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, plan_slug text NOT NULL REFERENCES plan,
  next_plan_slug text REFERENCES plan, status text NOT NULL, began_at timestamptz NOT NULL,
  period_start timestamptz NOT NULL, period_end timestamptz NOT NULL, included jsonb NOT NULL, used jsonb NOT NULL,
  through_ordinal bigint NOT NULL, next_try_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
  concurrent_call_limit int
);
CREATE INDEX plan_subscription_due ON plan_subscription (next_try_at);

-- Invoices are kept for ever. document has lines, seller and buyer as they were at issue. An invoice covers the entries
-- of the ledger since the one before, up to through_ordinal.
CREATE TABLE invoice (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, number bigint NOT NULL UNIQUE, status text NOT NULL,
  period date NOT NULL, period_start timestamptz NOT NULL, period_end timestamptz NOT NULL,
  through_ordinal bigint NOT NULL, total_cents bigint NOT NULL, amount_due_cents bigint NOT NULL,
  document jsonb NOT NULL, issued_at timestamptz NOT NULL, paid_at timestamptz,
  ordinal bigint GENERATED ALWAYS AS IDENTITY, UNIQUE (tenant_id, period)
);
CREATE INDEX invoice_open ON invoice (tenant_id) WHERE status = 'open';
CREATE INDEX invoice_tenant ON invoice (tenant_id, ordinal DESC);

-- The last number. It is rolled back with its transaction, so numbers have no gaps.
CREATE TABLE invoice_number (name text PRIMARY KEY, last bigint NOT NULL);
INSERT INTO invoice_number (name, last) VALUES ('invoice', 0);

CREATE TABLE invoice_seller (name text PRIMARY KEY, party jsonb NOT NULL, updated_at timestamptz NOT NULL);

CREATE TABLE invoice_buyer (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, party jsonb NOT NULL, updated_at timestamptz NOT NULL
);
`

/** Cards and their charges. An id of one processor means nothing to another, so each row names its processor. */
const cards = `
CREATE TABLE payment_customer (
  tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, customer_id text NOT NULL,
  created_at timestamptz NOT NULL, PRIMARY KEY (tenant_id, processor), UNIQUE (processor, customer_id)
);

CREATE TABLE payment_method (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, processor_id text NOT NULL,
  brand text NOT NULL, last4 text NOT NULL, exp_month int NOT NULL, exp_year int NOT NULL,
  is_default boolean NOT NULL, ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL,
  removed_at timestamptz
);
CREATE UNIQUE INDEX payment_method_card ON payment_method (processor, processor_id) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX payment_method_default ON payment_method (tenant_id, processor)
  WHERE is_default AND removed_at IS NULL;
CREATE INDEX payment_method_tenant ON payment_method (tenant_id, ordinal DESC) WHERE removed_at IS NULL;

-- The attempt's id is that of the ledger entry that it becomes. slot is the hashed Idempotency-Key of the request, by
-- which its repetition after a crash finds it.
CREATE TABLE payment_attempt (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, processor text NOT NULL, kind text NOT NULL,
  amount_cents bigint NOT NULL, payment_method_id text NOT NULL, customer_id text NOT NULL, card_id text NOT NULL,
  status text NOT NULL, intent_id text, failure_code text, failure_message text, actor jsonb NOT NULL, ip text,
  slot text, ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL, settled_at timestamptz
);
CREATE UNIQUE INDEX payment_attempt_intent ON payment_attempt (processor, intent_id) WHERE intent_id IS NOT NULL;
CREATE INDEX payment_attempt_pending ON payment_attempt (created_at) WHERE status = 'pending';
CREATE UNIQUE INDEX payment_attempt_recharge ON payment_attempt (tenant_id, processor)
  WHERE kind = 'auto_recharge' AND status = 'pending';
CREATE INDEX payment_attempt_slot ON payment_attempt (slot) WHERE slot IS NOT NULL;
CREATE INDEX payment_attempt_tenant ON payment_attempt (tenant_id, ordinal DESC);

-- payout_round is the payout that asked for the refund; null: the operator asked for it alone.
CREATE TABLE payment_refund (
  id text PRIMARY KEY, attempt_id text NOT NULL REFERENCES payment_attempt, tenant_id uuid NOT NULL,
  amount_cents bigint NOT NULL, status text NOT NULL, refund_id text, failure text, reason text,
  created_at timestamptz NOT NULL, settled_at timestamptz, payout_round int
);
CREATE UNIQUE INDEX payment_refund_pending ON payment_refund (attempt_id) WHERE status = 'pending';
CREATE INDEX payment_refund_tenant ON payment_refund (tenant_id);

-- The rest of a closed tenant's balance goes back to its cards in rounds, one for each request of the operator.
CREATE TABLE payout (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, round int NOT NULL, requested_at timestamptz NOT NULL,
  finished_at timestamptz, left_cents bigint
);

CREATE TABLE auto_recharge (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, enabled boolean NOT NULL, threshold_cents bigint, amount_cents bigint,
  payment_method_id text, disabled_reason text, failures int NOT NULL DEFAULT 0, next_try_at timestamptz,
  last_attempt_at timestamptz, last_attempt_status text, updated_at timestamptz NOT NULL
);

CREATE TABLE processor_event (
  id text NOT NULL, processor text NOT NULL, type text NOT NULL, subject_type text, subject_id text,
  received_at timestamptz NOT NULL, PRIMARY KEY (processor, id)
);

CREATE TABLE payment_reconciliation (
  tenant_id uuid PRIMARY KEY REFERENCES tenant, charged_cents bigint NOT NULL, refunded_cents bigint NOT NULL,
  difference_cents bigint NOT NULL, exceptions jsonb NOT NULL, checked_at timestamptz NOT NULL
);

-- The memory of the development processor, which charges no card.
CREATE TABLE development_payment (
  id text PRIMARY KEY, type text NOT NULL, customer_id text, attempt_id text, key text UNIQUE, body jsonb NOT NULL,
  ordinal bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL
);
CREATE INDEX development_payment_customer ON development_payment (customer_id, type);
`

/** The columns of the figures of usage. */
const figures = `outbound_calls int NOT NULL, inbound_calls int NOT NULL, answered_calls int NOT NULL,
  call_seconds bigint NOT NULL, billed_minutes bigint NOT NULL, recording_minutes bigint NOT NULL,
  transcription_minutes bigint NOT NULL, conference_participant_minutes bigint NOT NULL, amd_checks int NOT NULL,
  lookups int NOT NULL, cost_cents bigint NOT NULL`

/** Usage, and what calls cost on their trunks. */
const usage = `
-- A commit writes what it counts here. The rows are soon moved into usage_detail, one for each cause, and added to the
-- sums of their day.
CREATE TABLE usage_tail (
  tenant_id uuid NOT NULL, entries jsonb NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE usage_detail (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, at timestamptz NOT NULL, customer_reference text, number text,
  destination text, ${figures}
);
CREATE INDEX usage_detail_age ON usage_detail (at);
CREATE INDEX usage_detail_tenant ON usage_detail (tenant_id, at);

-- kind is '' for the sums of the tenant, or the name of a dimension with its value.
CREATE TABLE usage_day (
  tenant_id uuid NOT NULL, kind text NOT NULL, day date NOT NULL, value text NOT NULL, ${figures},
  PRIMARY KEY (tenant_id, kind, day, value)
) WITH (fillfactor = 70);
CREATE INDEX usage_day_age ON usage_day (day);

-- A row for each answered leg of an ended call on a trunk (runtime/store/usage/TrunkLeg.ts).
CREATE TABLE trunk_leg (
  call_id text NOT NULL, ordinal int NOT NULL, tenant_id uuid NOT NULL, route_id text NOT NULL, destination text,
  ended_at timestamptz NOT NULL, direction text, digits text, started_at timestamptz, minutes int,
  debited_cents bigint NOT NULL, PRIMARY KEY (call_id, ordinal)
);
CREATE INDEX trunk_leg_ended ON trunk_leg (ended_at);

-- The costs of a trunk, each deck from effective_at on. trunk is the id of a route, or a host.
CREATE TABLE cost_deck (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, trunk text NOT NULL, effective_at timestamptz NOT NULL,
  imported_at timestamptz NOT NULL, rows int NOT NULL
);

CREATE TABLE cost_rate (
  deck int NOT NULL REFERENCES cost_deck, direction text NOT NULL, prefix text NOT NULL,
  micro_usd_per_minute bigint NOT NULL, PRIMARY KEY (deck, direction, prefix)
);

-- Nothing uses this table. It is kept so that the schema is that of version 0.1, whose backups can be restored.
CREATE TABLE usage_backfill (
  name text PRIMARY KEY, position text NOT NULL, until text NOT NULL, others text[] NOT NULL
);
`

/** Routes (connections) and the peers of SIP. */
const connections = `
-- password is sealed. A limit that is null is not set. is_qualified: OPTIONS asks the trunk; refuses_unreachable:
-- calls are refused while it does not answer.
CREATE TABLE route (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, is_default boolean NOT NULL,
  status text NOT NULL, adapter text NOT NULL, host text, port int, username text, password text,
  created_at timestamptz NOT NULL, max_calls int, outbound_cps int, inbound_cps int,
  is_qualified boolean NOT NULL DEFAULT true, refuses_unreachable boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX route_default ON route (tenant_id) WHERE is_default;
CREATE INDEX route_host ON route (host) WHERE adapter = 'sip';
CREATE INDEX route_sip ON route (id) WHERE adapter = 'sip' AND status = 'active';
CREATE INDEX route_tenant ON route (tenant_id, created_at, id);

-- The version of the last change of a trunk's host. A transaction locks the row until it commits, so versions become
-- visible in their order.
CREATE TABLE trunk_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
INSERT INTO trunk_version (id, version) VALUES (1, 1);

-- The hosts of SIP trunks, each with the version of its last change, so that a reader of (version, host) finds what
-- changed since its last read. A host without active trunks keeps its row. Triggers write the rows, so no change of a
-- route can be missed.
CREATE TABLE trunk_host (host text PRIMARY KEY, version bigint NOT NULL, is_active boolean NOT NULL);
CREATE INDEX trunk_host_version ON trunk_host (version, host);
CREATE FUNCTION trunk_host_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE next bigint;
    BEGIN
      IF NOT EXISTS (SELECT FROM changed WHERE adapter = 'sip' AND host IS NOT NULL) THEN RETURN NULL; END IF;
      UPDATE trunk_version SET version = version + 1 RETURNING version INTO next;
      INSERT INTO trunk_host (host, version, is_active)
      SELECT c.host, next, EXISTS
        (SELECT FROM route r WHERE r.host = c.host AND r.adapter = 'sip' AND r.status = 'active')
      FROM (SELECT DISTINCT host FROM changed WHERE adapter = 'sip' AND host IS NOT NULL) c
      ON CONFLICT (host) DO UPDATE SET version = excluded.version, is_active = excluded.is_active;
      RETURN NULL;
    END $$;
CREATE TRIGGER trunk_host_inserted AFTER INSERT ON route REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION trunk_host_changed();
CREATE TRIGGER trunk_host_updated_from AFTER UPDATE ON route REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION trunk_host_changed();
CREATE TRIGGER trunk_host_updated_to AFTER UPDATE ON route REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION trunk_host_changed();
CREATE TRIGGER trunk_host_deleted AFTER DELETE ON route REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION trunk_host_changed();

-- Numbers the processes that push the table of peers.
CREATE SEQUENCE peer_table;

-- The networks that the operator banned from SIP. ban_version counts the changes of the list, so that a reader reads it
-- only when it has changed.
CREATE TABLE ban (
  network text PRIMARY KEY, reason text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz
);

CREATE TABLE ban_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
INSERT INTO ban_version (id, version) VALUES (1, 1);
CREATE FUNCTION ban_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE ban_version SET version = version + 1;
      RETURN NULL;
    END $$;
CREATE TRIGGER ban_changed AFTER INSERT OR UPDATE OR DELETE ON ban
  FOR EACH STATEMENT EXECUTE FUNCTION ban_changed();

-- Hosts, domains and networks that URLs of tenants may or may not lead to (ports/egress/TargetRules.ts).
-- target_version counts the changes of the rules.
CREATE TABLE target_rule (
  value text PRIMARY KEY, verdict text NOT NULL CHECK (verdict IN ('allow', 'deny')),
  reason text, created_at timestamptz NOT NULL
);

CREATE TABLE target_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
INSERT INTO target_version (id, version) VALUES (1, 1);
`

/** The numbers of the operator and of tenants, and orders for them. */
const numbers = `
-- Numbers that tenants can order.
CREATE TABLE inventory (
  phone_number text PRIMARY KEY, country_code text NOT NULL, number_type text NOT NULL,
  national_destination_code text, region text, locality text, rate_center text, features text[] NOT NULL,
  upfront_cost_cents bigint NOT NULL, monthly_cost_cents bigint NOT NULL
);
CREATE INDEX inventory_country ON inventory (country_code, number_type, phone_number);

CREATE TABLE number_order (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, status text NOT NULL, country_code text NOT NULL,
  number_type text NOT NULL, phone_numbers jsonb NOT NULL, upfront_cost_cents bigint NOT NULL,
  monthly_cost_cents bigint NOT NULL, refunded_cents bigint NOT NULL DEFAULT 0, route_id text,
  customer_reference text, created_at timestamptz NOT NULL, completed_at timestamptz
);
CREATE INDEX number_order_pending ON number_order (created_at) WHERE status = 'pending';
CREATE INDEX number_order_tenant ON number_order (tenant_id, created_at DESC, id);

-- A number has one living owner. check_at is when a renewal looks at an active number next.
CREATE TABLE phone_number (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, phone_number text NOT NULL,
  country_code text NOT NULL, number_type text NOT NULL, status text NOT NULL, name text, route_id text,
  features text[] NOT NULL, customer_reference text, tags text[] NOT NULL DEFAULT '{}', order_id text,
  upfront_cost_cents bigint NOT NULL, monthly_cost_cents bigint NOT NULL, next_renewal_at timestamptz,
  activated_at timestamptz, released_at timestamptz, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
  caller_id_name text, records_inbound boolean NOT NULL DEFAULT false,
  recording_format text NOT NULL DEFAULT 'mp3', recording_channels text NOT NULL DEFAULT 'single',
  emergency_address_id text, emergency_enabled boolean NOT NULL DEFAULT false,
  source text NOT NULL DEFAULT 'order', porting_order_id text, unpaid_since timestamptz,
  reminders int NOT NULL DEFAULT 0, unpaid_suspended_at timestamptz, operator_suspended_at timestamptz,
  check_at timestamptz, held_until timestamptz, aged_until timestamptz
);
CREATE INDEX phone_number_aging ON phone_number (phone_number) WHERE aged_until IS NOT NULL;
CREATE INDEX phone_number_check ON phone_number (check_at) WHERE status = 'active';
CREATE INDEX phone_number_due ON phone_number (tenant_id, next_renewal_at, id) WHERE status = 'active';
CREATE INDEX phone_number_emergency ON phone_number (emergency_address_id) WHERE emergency_address_id IS NOT NULL;
CREATE UNIQUE INDEX phone_number_owned ON phone_number (phone_number)
  WHERE status IN ('pending', 'active', 'port_pending');
CREATE INDEX phone_number_route ON phone_number (route_id) WHERE route_id IS NOT NULL;
CREATE INDEX phone_number_tenant ON phone_number (tenant_id, created_at DESC, id);
CREATE INDEX phone_number_unpaid ON phone_number (tenant_id) WHERE status = 'active' AND unpaid_since IS NOT NULL;

CREATE TABLE emergency_address (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, street_address text NOT NULL,
  extended_address text, locality text NOT NULL, administrative_area text, postal_code text NOT NULL,
  country_code text NOT NULL, customer_reference text, created_at timestamptz NOT NULL
);
CREATE INDEX emergency_address_tenant ON emergency_address (tenant_id, created_at DESC, id);

-- Account number and PIN of the end user are sealed in account_secret.
CREATE TABLE porting_order (
  id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, status text NOT NULL, details jsonb NOT NULL,
  contested jsonb NOT NULL, end_user jsonb NOT NULL, account_secret text, numbers jsonb NOT NULL,
  requested_foc_at timestamptz, foc_at timestamptz, losing_carrier text, route_id text, customer_reference text,
  parent_id text, before_cancel text, submitted_at timestamptz, exception_at timestamptz, ported_at timestamptz,
  cancelled_at timestamptz, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL
);
CREATE INDEX porting_order_age ON porting_order (updated_at);
CREATE INDEX porting_order_queue ON porting_order (status, updated_at)
  WHERE status NOT IN ('draft', 'ported', 'cancelled');
CREATE INDEX porting_order_tenant ON porting_order (tenant_id, created_at DESC, id);

CREATE TABLE porting_document (
  id text PRIMARY KEY, porting_order_id text NOT NULL REFERENCES porting_order ON DELETE CASCADE,
  tenant_id uuid NOT NULL, document_type text NOT NULL, filename text NOT NULL, content_type text NOT NULL,
  size_bytes bigint NOT NULL, sha256 text NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL
);
CREATE INDEX porting_document_order ON porting_document (porting_order_id, created_at, id);

-- A document is stored in parts, so that neither a backup nor a download holds more of it in memory.
CREATE TABLE porting_document_part (
  document_id text NOT NULL REFERENCES porting_document ON DELETE CASCADE, part int NOT NULL, bytes bytea NOT NULL,
  PRIMARY KEY (document_id, part)
);
`

/** The columns that lists filter and show; the whole call or conference is its entity. */
const telephony = `
-- The numbers of a call never change, so its later versions need no new entries in the indexes by number.
CREATE TABLE call (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, direction text NOT NULL, status text NOT NULL,
  from_number text NOT NULL, to_number text NOT NULL, route_id text NOT NULL, initiated_at timestamptz NOT NULL,
  answered_at timestamptz, ended_at timestamptz, duration_seconds int NOT NULL, end_reason text, end_initiator text,
  customer_reference text, cost_cents bigint, rating_status text NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX call_from_number ON call (tenant_id, from_number, initiated_at DESC, id DESC);
CREATE INDEX call_tenant ON call (tenant_id, initiated_at DESC, id DESC);
CREATE INDEX call_to_number ON call (tenant_id, to_number, initiated_at DESC, id DESC);

CREATE TABLE machine_detection (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, leg_id text NOT NULL, verdict text NOT NULL,
  detected_at timestamptz NOT NULL, beep_detected_at timestamptz
);
CREATE INDEX machine_detection_age ON machine_detection (detected_at);

-- Recordings whose outcome is known. restored_at is when the operator brought one back from the archive; it is archived
-- again that much later. The last two indexes find recordings to archive, and recordings to expire.
CREATE TABLE recording (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, conference_id text, channels text NOT NULL,
  format text NOT NULL, status text NOT NULL, duration_seconds int NOT NULL, size_bytes bigint NOT NULL,
  created_at timestamptz NOT NULL, restored_at timestamptz
);
CREATE INDEX recording_call ON recording (call_id, created_at DESC, id DESC);
CREATE INDEX recording_kept ON recording (created_at) WHERE status IN ('available', 'archived');
CREATE INDEX recording_tenant ON recording (tenant_id, created_at DESC, id DESC);
CREATE INDEX recording_young ON recording (coalesce(restored_at, created_at)) WHERE status = 'available';

CREATE TABLE transcription (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, leg_id text NOT NULL, status text NOT NULL,
  engine text NOT NULL, language text NOT NULL, tracks text NOT NULL, started_at timestamptz NOT NULL,
  ended_at timestamptz, duration_seconds int NOT NULL, cost_cents int
);
CREATE INDEX transcription_call ON transcription (call_id, started_at DESC);

-- confidence is in ten thousandths; words is JSON.
CREATE TABLE transcript_segment (
  id text PRIMARY KEY, transcription_id text NOT NULL, sequence int NOT NULL, transcript text NOT NULL,
  confidence int, track text NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz NOT NULL,
  words text NOT NULL
);
CREATE INDEX transcript_segment_session ON transcript_segment (transcription_id, sequence);

-- A name is unique among the conferences of a tenant that are not completed. folded_name is the name in lower case,
-- because a database may fold ASCII only.
CREATE TABLE conference (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, name text NOT NULL, status text NOT NULL, host_call_id text,
  beep_enabled text NOT NULL, start_on_create int NOT NULL, end_on_exit int NOT NULL, max_participants int NOT NULL,
  duration_minutes int NOT NULL, created_at timestamptz NOT NULL, started_at timestamptz, ended_at timestamptz,
  folded_name text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX conference_name ON conference (tenant_id, name) WHERE status <> 'completed';
CREATE INDEX conference_tenant ON conference (tenant_id, created_at DESC, id DESC);

CREATE TABLE conference_participant (
  id text PRIMARY KEY, tenant_id uuid NOT NULL, conference_id text NOT NULL, call_id text NOT NULL, leg_id text,
  role text NOT NULL, created_at timestamptz NOT NULL, joined_at timestamptz, left_at timestamptz,
  is_muted int NOT NULL, is_on_hold int NOT NULL
);
CREATE INDEX conference_participant_place ON conference_participant (conference_id, created_at, id);
`

/** Each feature is one DO block, because the client sends one command at a time, and a block saves its round trips. */
export const init = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const feature of [
    ownership,
    tenants,
    entities,
    events,
    requests,
    money,
    cards,
    usage,
    connections,
    numbers,
    telephony
  ])
    yield* sql.unsafe(`DO $init$ BEGIN ${feature} END $init$`)
})
