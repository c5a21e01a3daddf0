import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a tenant configures of a number, how its months are paid, and for how long it is kept after its release; and
 * emergency addresses. `check_at` is when a renewal looks at an active number next.
 *
 * Months that fell due before renewals existed are not charged: such a number goes on with its next one.
 */
export const number = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE phone_number
    ADD COLUMN caller_id_name text,
    ADD COLUMN records_inbound boolean NOT NULL DEFAULT false,
    ADD COLUMN recording_format text NOT NULL DEFAULT 'mp3',
    ADD COLUMN recording_channels text NOT NULL DEFAULT 'single',
    ADD COLUMN emergency_address_id text,
    ADD COLUMN emergency_enabled boolean NOT NULL DEFAULT false,
    ADD COLUMN source text NOT NULL DEFAULT 'order',
    ADD COLUMN porting_order_id text,
    ADD COLUMN unpaid_since timestamptz,
    ADD COLUMN reminders int NOT NULL DEFAULT 0,
    ADD COLUMN unpaid_suspended_at timestamptz,
    ADD COLUMN operator_suspended_at timestamptz,
    ADD COLUMN check_at timestamptz,
    ADD COLUMN held_until timestamptz,
    ADD COLUMN aged_until timestamptz`
  yield* sql`UPDATE phone_number p SET next_renewal_at = (
      SELECT min(p.activated_at + make_interval(months => n))
      FROM (SELECT (12 * extract(year FROM age(now(), p.activated_at)) + extract(month FROM age(now(), p.activated_at)))::int) a(past),
        generate_series(a.past, a.past + 2) n WHERE p.activated_at + make_interval(months => n) > now())
    WHERE status = 'active' AND next_renewal_at <= now() AND activated_at IS NOT NULL`
  yield* sql`UPDATE phone_number SET check_at = next_renewal_at WHERE status = 'active'`
  yield* sql`CREATE INDEX phone_number_check ON phone_number (check_at) WHERE status = 'active'`
  yield* sql`CREATE INDEX phone_number_due ON phone_number (tenant_id, next_renewal_at, id) WHERE status = 'active'`
  yield* sql`CREATE INDEX phone_number_unpaid ON phone_number (tenant_id)
    WHERE status = 'active' AND unpaid_since IS NOT NULL`
  yield* sql`CREATE INDEX phone_number_aging ON phone_number (phone_number) WHERE aged_until IS NOT NULL`
  yield* sql`CREATE INDEX phone_number_emergency ON phone_number (emergency_address_id)
    WHERE emergency_address_id IS NOT NULL`
  yield* sql`CREATE TABLE emergency_address (
    id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, name text NOT NULL, street_address text NOT NULL,
    extended_address text, locality text NOT NULL, administrative_area text, postal_code text NOT NULL,
    country_code text NOT NULL, customer_reference text, created_at timestamptz NOT NULL)`
  yield* sql`CREATE INDEX emergency_address_tenant ON emergency_address (tenant_id, created_at DESC, id)`
})
