import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Retention } from "../../../src/runtime/retention/Retention.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as SampleCommit from "../../bench/SampleCommit.ts"
import * as Features from "../../support/service/Features.ts"

export const dayMs = 86_400_000

/** The current time for retention; tests set it. */
export const present = { now: 0 }

/** The features over Postgres, and retention of 30 and 396 days in batches of `rows`. */
export const layer = (rows: number) =>
  Layer.mergeAll(
    Calls.layer({ maxCallSecs: 3600 }),
    Retention.layer({ days: { event: 30, call: 396 }, now: Effect.sync(() => present.now), rows })
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(DialingPermissions.layer, Carrier.layer)),
    Layer.provideMerge(Features.layer),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
  )

/** A tenant that subscribes to everything. */
export const tenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { caller, id, plaintext } = yield* Features.newTenant()
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
    VALUES (${Id.derive(id, "sub")}, ${id}, 'https://example.com/', '{*}'::text[], 's', true, now())`
  return { id, keyId: caller.keyId, credential: plaintext, number: "+12025550150" }
})
export type Tenant = Effect.Success<typeof tenant>

export interface Old {
  readonly id: Id.CallId
  /** When the call began; it lasted three seconds. */
  readonly at: number
  /** False: the call is still answered. */
  readonly settled: boolean
  /** False: the call's last delivery still waits for a receiver. */
  readonly delivered: boolean
}

/** Writes a call as a process would have written it `at` that time, with its deliveries. */
export const write = Effect.fnUntraced(function* (tenant: Tenant, seed: string, of: Omit<Old, "id">) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const life = SampleCommit.life(tenant, seed, of.at)
  for (const commit of of.settled ? life : life.slice(0, 3)) yield* journal.commit(commit)
  const id = Id.derive(seed, "call")
  // The database sets this time by its own clock.
  yield* sql`UPDATE entity SET updated_at = to_timestamp(${of.at / 1000}::float8) WHERE id = ${id}`
  yield* sql`
    UPDATE webhook_delivery d SET created_at = e.occurred_at, status = 'succeeded', attempt_no = 1, due_at = NULL
    FROM event e WHERE e.id = d.event_id AND e.entity_id = ${id}`
  if (!of.delivered)
    yield* sql`
      UPDATE webhook_delivery SET status = 'queued', due_at = now() WHERE event_id =
        (SELECT id FROM event WHERE entity_id = ${id} ORDER BY sequence DESC LIMIT 1)`
  return { ...of, id }
})

/** The number of rows of a call, by table. */
export const rowsOf = Effect.fnUntraced(function* (id: Id.CallId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly deliveries: number
    readonly events: number
    readonly inputs: number
    readonly calls: number
    readonly entities: number
    readonly lines: number
  }>`
    SELECT (SELECT count(*)::int FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = ${id}) AS deliveries,
      (SELECT count(*)::int FROM event WHERE entity_id = ${id}) AS events,
      (SELECT count(*)::int FROM journal WHERE entity_id = ${id}) AS inputs,
      (SELECT count(*)::int FROM call WHERE id = ${id}) AS calls,
      (SELECT count(*)::int FROM entity WHERE id = ${id}) AS entities,
      (SELECT count(*)::int FROM audit WHERE resource_id = ${id}) AS lines`
  if (row === undefined) throw new Error("no answer")
  return row
})
