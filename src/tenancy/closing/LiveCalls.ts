import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../domain/Id.ts"

class CallsGoOn extends Data.TaggedError("CallsGoOn") {
  override readonly message = "calls of the tenant, or their recordings, are not over yet"
}

/** Fails while a call of the tenant is live, or its cost or the outcome of its recordings is not known. */
export const none = Effect.map(
  SqlClient.SqlClient,
  (sql) => (tenantId: TenantId) =>
    Effect.flatMap(
      sql`SELECT FROM entity WHERE kind IN ('call', 'conference') AND NOT settled AND tenant_id = ${tenantId} LIMIT 1`,
      (live) => (live.length === 0 ? Effect.void : Effect.fail(new CallsGoOn()))
    )
)
