import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { RouteId, TenantId } from "../domain/Id.ts"
import * as Listing from "../store/Listing.ts"
import { type RouteRow, view } from "./ConnectionView.ts"
import type { TrunkHost } from "./KnownPeers.ts"

/** Rows of `route`. Reads are by tenant, except those for carriers, by id or host. Failed statements die. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const columns = sql`id, tenant_id::text AS "tenantId", name, is_default AS "isDefault", status, adapter, host, port,
    username, password, (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt"`
  const first = (rows: ReadonlyArray<RouteRow>) => rows[0] ?? null

  return {
    insert: (row: RouteRow) =>
      Effect.orDie(sql`
        INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, port, username, password, created_at)
        VALUES (${row.id}, ${row.tenantId}, ${row.name}, ${row.isDefault}, ${row.status}, ${row.adapter}, ${row.host},
          ${row.port}, ${row.username}, ${row.password}, to_timestamp(${row.createdAt} / 1000.0))`),

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
        Listing.read(sql, {
          columns,
          from: sql`route`,
          where: sql`tenant_id = ${tenantId}`,
          order: sql`created_at DESC, id`,
          window,
          item: view
        })
      ),

    sipById: (id: RouteId) =>
      Effect.map(
        Effect.orDie(sql<RouteRow>`
          SELECT ${columns} FROM route WHERE id = ${id} AND adapter = 'sip' AND status = 'active'`),
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

    /** Hosts of trunks behind this one, by the version of their last change. */
    hostsSince: ({ host, version }: Pick<TrunkHost, "version" | "host">, limit: number) =>
      Effect.orDie(sql<TrunkHost>`
        SELECT host, version::float8 AS version, is_active AS "isActive" FROM trunk_host
        WHERE (version, host) > (${version}, ${host}) ORDER BY version, host LIMIT ${limit}`),

    /** A number that no process had before. */
    peerTableLife: Effect.map(
      Effect.orDie(sql<{ readonly life: number }>`SELECT nextval('peer_table')::float8 AS life`),
      (rows) => rows[0]?.life ?? 0
    )
  }
})
