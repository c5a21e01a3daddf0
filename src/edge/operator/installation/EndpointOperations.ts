import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Id from "../../../domain/Id.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import { Webhooks } from "../../../webhook/Webhook.ts"
import * as Operation from "../door/Operation.ts"

const by = { actor: Audit.operator, ip: null }

/** At most so many are listed. */
const listLimit = 1_000

interface Row {
  readonly id: Id.SubscriptionId
  readonly tenant: string
  readonly target_url: string
  readonly event_types: ReadonlyArray<string>
  readonly is_active: boolean
  readonly failing_since: number | null
  readonly failed_attempts: number
}

/** `endpoint list`, `disable`, `enable`; `delivery resend`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const webhooks = yield* Webhooks
  const sql = yield* SqlClient.SqlClient

  const masked = <View extends { readonly target_url: string }>(view: View): View => ({
    ...view,
    target_url: Secret.maskUrl(view.target_url)
  })

  return [
    Operation.make(
      "endpoint/list",
      Schema.Struct({ tenant: Schema.optionalKey(Operation.TenantRef), failing: Schema.Boolean }),
      Effect.fnUntraced(function* ({ failing, tenant }) {
        const tenantId = tenant === undefined ? null : (yield* tenants.findByReference(tenant)).id
        const rows = yield* Effect.orDie(sql<Row>`
          SELECT s.id, t.slug AS tenant, s.target_url, s.event_types, s.is_active, s.failed_attempts,
            (extract(epoch FROM s.failing_since) * 1000)::float8 AS failing_since
          FROM webhook_subscription s JOIN tenant t ON t.id = s.tenant_id
          WHERE ${sql.and([
            sql`true`,
            ...(tenantId === null ? [] : [sql`s.tenant_id = ${tenantId}`]),
            ...(failing ? [sql`s.failing_since IS NOT NULL`] : [])
          ])}
          ORDER BY s.failing_since NULLS LAST, s.created_at DESC, s.id LIMIT ${listLimit}`)
        return {
          results: rows.map((row) => ({
            ...masked(row),
            event_types: row.event_types.join(","),
            failing_since: row.failing_since === null ? null : Timestamp.format(row.failing_since)
          }))
        }
      })
    ),
    Operation.make(
      "endpoint/disable",
      Schema.Struct({
        id: Id.spelled("sub"),
        reason: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
      }),
      ({ id, reason = "the operator disabled the subscription" }) =>
        Effect.map(webhooks.disable(id, by, reason), masked)
    ),
    Operation.make("endpoint/enable", Schema.Struct({ id: Id.spelled("sub") }), ({ id }) =>
      Effect.map(webhooks.enable(id, by), masked)
    ),
    Operation.make("delivery/resend", Schema.Struct({ id: Id.spelledUuid(Id.DeliveryId) }), ({ id }) =>
      webhooks.resend(id, by)
    )
  ]
})
