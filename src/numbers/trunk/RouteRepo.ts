import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { RouteId, TenantId } from "../../domain/Id.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { type RouteRow, view } from "./ConnectionView.ts"
import type { TrunkHost } from "./KnownPeers.ts"

/** Rows of `route`. Reads are by tenant, except those for carriers, which are by id or host. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader
  const columns = sql`id, tenant_id, name, is_default, status, adapter, host, port, username, password, max_calls,
    outbound_cps, inbound_cps, is_qualified, refuses_unreachable, created_at`
  const first = (rows: ReadonlyArray<RouteRow>) => rows[0] ?? null

  return {
    insert: (row: RouteRow) =>
      Effect.orDie(sql`
        INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, port, username, password, max_calls,
          outbound_cps, inbound_cps, is_qualified, refuses_unreachable, created_at)
        VALUES (${row.id}, ${row.tenantId}, ${row.name}, ${row.isDefault}, ${row.status}, ${row.adapter}, ${row.host},
          ${row.port}, ${row.username}, ${row.password}, ${row.maxCalls}, ${row.outboundCps}, ${row.inboundCps},
          ${row.isQualified}, ${row.refusesUnreachable}, ${timestamptz(row.createdAt)})`),

    /** Locks a route of any tenant until the transaction ends, for the operator. */
    lock: (id: RouteId) =>
      Effect.map(Effect.orDie(sql<RouteRow>`SELECT ${columns} FROM route WHERE id = ${id} FOR UPDATE`), first),

    /** Writes the columns that the operator may change. */
    update: (row: RouteRow) =>
      Effect.orDie(sql`
        UPDATE route SET is_default = ${row.isDefault}, status = ${row.status}, username = ${row.username},
          password = ${row.password}, max_calls = ${row.maxCalls}, outbound_cps = ${row.outboundCps},
          inbound_cps = ${row.inboundCps}, is_qualified = ${row.isQualified},
          refuses_unreachable = ${row.refusesUnreachable}
        WHERE id = ${row.id}`),

    remove: (id: RouteId) => Effect.orDie(sql`DELETE FROM route WHERE id = ${id}`),

    /** The numbers, orders under way and subscriptions that name the route, at most eleven of each. */
    dependents: (id: RouteId) =>
      Effect.orDie(sql<{ readonly kind: "number" | "order" | "subscription"; readonly name: string }>`
        (SELECT 'number' AS kind, phone_number AS name FROM phone_number
          WHERE route_id = ${id} AND status IN ('pending', 'active', 'port_pending') ORDER BY 2 LIMIT 11)
        UNION ALL (SELECT 'order', id FROM number_order WHERE route_id = ${id} AND status = 'pending' LIMIT 11)
        UNION ALL (SELECT 'subscription', id FROM webhook_subscription WHERE connection_id = ${id} AND is_active LIMIT 11)`),

    /** The active SIP trunks after this id that OPTIONS requests check, ordered by id. */
    qualifiedAfter: (id: string, limit: number) =>
      Effect.orDie(sql<RouteRow>`
        SELECT ${columns} FROM route WHERE adapter = 'sip' AND status = 'active' AND is_qualified AND id > ${id}
        ORDER BY id LIMIT ${limit}`),

    clearDefault: (tenantId: TenantId) =>
      Effect.orDie(sql`UPDATE route SET is_default = false WHERE tenant_id = ${tenantId} AND is_default`),

    find: (tenantId: TenantId, id: RouteId) =>
      Effect.map(
        Effect.orDie(sql<RouteRow>`SELECT ${columns} FROM route WHERE tenant_id = ${tenantId} AND id = ${id}`),
        first
      ),

    findDefault: (tenantId: TenantId) =>
      Effect.map(
        Effect.orDie(sql<RouteRow>`SELECT ${columns} FROM route WHERE tenant_id = ${tenantId} AND is_default`),
        first
      ),

    list: (tenantId: TenantId, window: Listing.Window) =>
      Effect.orDie(
        read({
          tenantId,
          columns,
          from: sql`route`,
          where: sql`tenant_id = ${tenantId}`,
          order: Listing.byTime(sql, "created_at"),
          window,
          item: view
        })
      ),

    /** Includes disabled trunks, because their live calls continue and their requests may be challenged. */
    sipById: (id: RouteId) =>
      Effect.map(
        Effect.orDie(sql<RouteRow>`
          SELECT ${columns} FROM route WHERE id = ${id} AND adapter = 'sip'`),
        first
      ),

    /** The tenant's oldest active trunk at one of these hosts. */
    sipAt: (tenantId: TenantId, hosts: ReadonlyArray<string>) =>
      Effect.map(
        Effect.orDie(sql<RouteRow>`
          SELECT ${columns} FROM route
          WHERE tenant_id = ${tenantId} AND adapter = 'sip' AND status = 'active' AND host = ANY(${hosts}::text[])
          ORDER BY created_at, id LIMIT 1`),
        first
      ),

    /** The hosts of trunks after this one, by the version of their last change. */
    hostsSince: ({ host, version }: Pick<TrunkHost, "version" | "host">, limit: number) =>
      Effect.orDie(sql<TrunkHost>`
        SELECT host, version, is_active FROM trunk_host
        WHERE (version, host) > (${version}, ${host}) ORDER BY version, host LIMIT ${limit}`),

    /** Returns a number that no process had before. */
    peerTableLife: Effect.map(
      Effect.orDie(sql<{ readonly life: number }>`SELECT nextval('peer_table') AS life`),
      (rows) => rows[0]?.life ?? 0
    )
  }
})
