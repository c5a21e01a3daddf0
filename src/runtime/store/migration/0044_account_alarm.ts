import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What a tenant has been told of its money by letter: a row for each crossing, until it is crossed back or long ago. */
export const accountAlarm = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE account_alarm (
      tenant_id uuid NOT NULL, kind text NOT NULL, period text NOT NULL, told_at timestamptz NOT NULL,
      PRIMARY KEY (tenant_id, kind, period)
    )`
  yield* sql`CREATE INDEX account_alarm_age ON account_alarm (told_at)`
})
