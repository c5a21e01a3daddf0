import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Connections } from "../../connection/Connection.ts"
import type { RouteId, TenantId } from "../../domain/Id.ts"
import * as Timestamp from "../../domain/Timestamp.ts"
import * as Wire from "../../domain/Wire.ts"
import { Tenants } from "../../tenant/Tenant.ts"
import * as Operation from "../Operation.ts"

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
  readonly created_at: number
}

/** `route add`, `route list`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const sql = yield* SqlClient.SqlClient
  const connections = yield* Connections

  const routes = (tenantId: TenantId) =>
    Effect.orDie(sql<Row>`
      SELECT id, name, is_default, status, adapter, host, port, username, password IS NOT NULL AS has_password,
        (extract(epoch FROM created_at) * 1000)::float8 AS created_at
      FROM route WHERE tenant_id = ${tenantId} ORDER BY route.created_at, id LIMIT 1000`)

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
        return { results: rows.map((row) => ({ ...row, created_at: Timestamp.format(row.created_at) })) }
      })
    )
  ]
})
