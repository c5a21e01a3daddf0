import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TrunkStates } from "../../../carrier/peer/TrunkStates.ts"
import { Trunks, type ConnectionView } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { RouteId, TenantId } from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

/** A route with its configuration, which the tenant does not see, and without the password. */
interface Row {
  readonly id: RouteId
  readonly name: string
  readonly is_default: boolean
  readonly status: string
  readonly adapter: string
  readonly host: string | null
  readonly port: number | null
  readonly username: string | null
  readonly has_password: boolean
  readonly max_calls: number | null
  readonly outbound_cps: number | null
  readonly inbound_cps: number | null
  readonly is_qualified: boolean
  readonly refuses_unreachable: boolean
  readonly created_at: number
}

const OneRoute = Schema.Struct({ id: Schema.String })

/** Beyond the calls that the service has room for, a limit limits nothing. */
const Limit = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))
const Rate = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 })))

/** `route add`, `list`, `disable`, `enable`, `default`, `password`, `limits`, `remove`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const sql = yield* SqlClient.SqlClient
  const connections = yield* Trunks
  const states = yield* TrunkStates

  const columns = sql`id, name, is_default, status, adapter, host, port, username,
    password IS NOT NULL AS has_password, max_calls, outbound_cps, inbound_cps, is_qualified, refuses_unreachable,
    (extract(epoch FROM created_at) * 1000)::float8 AS created_at`

  const routes = (tenantId: TenantId) =>
    Effect.orDie(sql<Row>`
      SELECT ${columns} FROM route WHERE tenant_id = ${tenantId} ORDER BY route.created_at, id LIMIT 1000`)

  /** What the carrier knows of it; nothing of a route that is not asked. */
  const standing = (row: Row) => {
    const state = states.of(row.id)
    return {
      state: state?.state ?? "unknown",
      state_since: state === null ? null : Timestamp.format(state.since),
      rtt_ms: state === null || state.rttMs === null ? null : Math.round(state.rttMs * 10) / 10,
      last_status: state?.lastStatus ?? null
    }
  }

  const shown = Effect.fnUntraced(function* (row: Row) {
    const calls = yield* connections.liveCalls
    return {
      ...row,
      ...standing(row),
      live_calls: calls.get(row.id) ?? 0,
      created_at: Timestamp.format(row.created_at)
    }
  })

  /** The route as it is after the change. */
  const changed = Effect.fnUntraced(function* (change: Effect.Effect<ConnectionView, ApiError>) {
    const { id } = yield* change
    const [row] = yield* Effect.orDie(sql<Row>`SELECT ${columns} FROM route WHERE id = ${id}`)
    return row === undefined ? yield* ApiError.of("not_found", `no route ${id}`) : yield* shown(row)
  })

  return [
    Operation.make(
      "route/add",
      Wire.struct({
        tenant: Operation.TenantRef,
        name: Schema.String,
        host: Schema.String,
        port: Wire.absentIs(5060, Schema.Int),
        username: Schema.optionalKey(Schema.String),
        password: Schema.optionalKey(Schema.String),
        isQualified: Wire.absentIs(true, Schema.Boolean),
        isDefault: Schema.Boolean
      }),
      Effect.fnUntraced(function* ({ password = null, tenant, username = null, ...trunk }) {
        const { id } = yield* tenants.findByReference(tenant)
        return yield* connections.addSipTrunk({ tenantId: id, ...trunk, username, password })
      })
    ),
    Operation.make(
      "route/list",
      Schema.Struct({ tenant: Operation.TenantRef }),
      Effect.fnUntraced(function* ({ tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        const rows = yield* routes(id)
        return { results: yield* Effect.forEach(rows, shown) }
      })
    ),
    Operation.make("route/disable", OneRoute, ({ id }) => changed(connections.setStatus(id, "disabled"))),
    Operation.make("route/enable", OneRoute, ({ id }) => changed(connections.setStatus(id, "active"))),
    Operation.make("route/default", OneRoute, ({ id }) => changed(connections.makeDefault(id))),
    Operation.make(
      "route/password",
      Wire.struct({
        id: Schema.String,
        username: Schema.optionalKey(Schema.String),
        password: Schema.NullOr(Schema.String)
      }),
      ({ id, ...digest }) => changed(connections.setPassword(id, digest))
    ),
    Operation.make(
      "route/limits",
      Wire.struct({
        id: Schema.String,
        maxCalls: Schema.optionalKey(Limit),
        outboundCps: Schema.optionalKey(Rate),
        inboundCps: Schema.optionalKey(Rate),
        isQualified: Schema.optionalKey(Schema.Boolean),
        refusesUnreachable: Schema.optionalKey(Schema.Boolean)
      }),
      ({ id, ...settings }) => changed(connections.setLimits(id, settings))
    ),
    Operation.make("route/remove", OneRoute, ({ id }) => connections.remove(id))
  ]
})
