import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Calls by their numbers, for the list; and the operator's rules for targets (`ports/egress/TargetRules.ts`): hosts, domains
 * and networks that a tenant's URL may or may not lead to.
 *
 * Numbers of a call never change, so its later versions stay out of these indexes. Building one reads its table once: no
 * limit of time may end that half way. The row of `target_version` tells every process that the rules have changed.
 */
export const edge = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`CREATE INDEX call_from_number ON call (tenant_id, from_number, initiated_at DESC, id DESC)`
  yield* sql`CREATE INDEX call_to_number ON call (tenant_id, to_number, initiated_at DESC, id DESC)`
  yield* sql`
    CREATE TABLE target_rule (
      value text PRIMARY KEY, verdict text NOT NULL CHECK (verdict IN ('allow', 'deny')), reason text,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE TABLE target_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL)`
  yield* sql`INSERT INTO target_version (id, version) VALUES (1, 1)`
})
