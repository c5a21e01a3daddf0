import { Effect } from "effect"
import type { RouteId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { type RouteRow, view } from "./ConnectionView.ts"
import type { TrunkHost } from "./KnownPeers.ts"

/** Rows of `route`. Reads are by tenant, except those for carriers, which are by id or host. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, count, done, first, sql, values } = yield* Sql.make
  const read = yield* Listing.reader
  const columns = sql`id, tenant_id, name, is_default, status, adapter, host, port, username, password, max_calls,
    outbound_cps, inbound_cps, is_qualified, refuses_unreachable, number_plan, created_at`

  return {
    insert: (row: RouteRow) => done`INSERT INTO route ${values({ ...row })}`,

    /** Locks a route of any tenant until the transaction ends, for the operator. */
    lock: (id: RouteId) => first<RouteRow>`SELECT ${columns} FROM route WHERE id = ${id} FOR UPDATE`,

    /** Writes the columns that the operator may change. */
    update: (row: RouteRow) =>
      done`
        UPDATE route SET is_default = ${row.isDefault}, status = ${row.status}, username = ${row.username},
          password = ${row.password}, max_calls = ${row.maxCalls}, outbound_cps = ${row.outboundCps},
          inbound_cps = ${row.inboundCps}, is_qualified = ${row.isQualified},
          refuses_unreachable = ${row.refusesUnreachable},
          number_plan = ${row.numberPlan === null ? null : JSON.stringify(row.numberPlan)}::text::jsonb
        WHERE id = ${row.id}`,

    remove: (id: RouteId) => done`DELETE FROM route WHERE id = ${id}`,

    /** The numbers, orders under way and subscriptions that name the route, at most eleven of each. */
    dependents: (id: RouteId) =>
      all<{ readonly kind: "number" | "order" | "subscription"; readonly name: string }>`
        (SELECT 'number' AS kind, phone_number AS name FROM phone_number
          WHERE route_id = ${id} AND status IN ('pending', 'active', 'port_pending') ORDER BY 2 LIMIT 11)
        UNION ALL (SELECT 'order', id FROM number_order WHERE route_id = ${id} AND status = 'pending' LIMIT 11)
        UNION ALL (SELECT 'subscription', id FROM webhook_subscription WHERE connection_id = ${id} AND is_active LIMIT 11)`,

    /** The active SIP trunks after this id that OPTIONS requests check, ordered by id. */
    qualifiedAfter: (id: string, limit: number) =>
      all<RouteRow>`
        SELECT ${columns} FROM route WHERE adapter = 'sip' AND status = 'active' AND is_qualified AND id > ${id}
        ORDER BY id LIMIT ${limit}`,

    clearDefault: (tenantId: TenantId) =>
      done`UPDATE route SET is_default = false WHERE tenant_id = ${tenantId} AND is_default`,

    find: (tenantId: TenantId, id: RouteId) =>
      first<RouteRow>`SELECT ${columns} FROM route WHERE tenant_id = ${tenantId} AND id = ${id}`,

    findDefault: (tenantId: TenantId) =>
      first<RouteRow>`SELECT ${columns} FROM route WHERE tenant_id = ${tenantId} AND is_default`,

    list: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns, from: "route", window, item: view }),

    /** Includes disabled trunks, because their live calls continue and their requests may be challenged. */
    sipById: (id: RouteId) => first<RouteRow>`SELECT ${columns} FROM route WHERE id = ${id} AND adapter = 'sip'`,

    /** The tenant's oldest active trunk at one of these hosts. */
    sipAt: (tenantId: TenantId, hosts: ReadonlyArray<string>) =>
      first<RouteRow>`
        SELECT ${columns} FROM route
        WHERE tenant_id = ${tenantId} AND adapter = 'sip' AND status = 'active' AND host = ANY(${hosts}::text[])
        ORDER BY created_at, id LIMIT 1`,

    /** The number plans of the active trunks at these hosts, each once, that of the oldest trunk first. */
    plansAt: (hosts: ReadonlyArray<string>, limit: number) =>
      all<Pick<RouteRow, "numberPlan">>`
        SELECT number_plan FROM route
        WHERE adapter = 'sip' AND status = 'active' AND host = ANY(${hosts}::text[]) AND number_plan IS NOT NULL
        GROUP BY number_plan ORDER BY min(created_at), min(id) LIMIT ${limit}`,

    /** The hosts of trunks after this one, by the version of their last change. */
    hostsSince: ({ host, version }: Pick<TrunkHost, "version" | "host">, limit: number) =>
      all<TrunkHost>`
        SELECT host, version, is_active FROM trunk_host
        WHERE (version, host) > (${version}, ${host}) ORDER BY version, host LIMIT ${limit}`,

    /** Returns a number that no process had before. */
    peerTableLife: count`SELECT nextval('peer_table') AS life`
  }
})
