import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Id from "../../../domain/Id.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Webhooks } from "../../../webhook/Webhook.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

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

const masked = <View extends { readonly target_url: string }>(view: View): View => ({
  ...view,
  target_url: Secret.maskUrl(view.target_url)
})

const id = Flag.argument("id", Id.spelled("sub"), "the webhook subscription")

/** guide/operation.md#webhook-endpoints. */
export const commands = [
  Command.make("endpoint list", {
    summary: "lists webhook subscriptions of a tenant or of all, those that have failed longest first",
    input: { tenant: TenantReference.optional, failing: Flag.on("only those that are failing now") },
    columns: "id tenant is_active failing_since failed_attempts event_types target_url",
    run: Effect.fnUntraced(function* ({ failing, tenant }) {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* TenantReference.idOrNull(tenant)
      const rows = yield* Effect.orDie(
        sql<Row>`
        SELECT s.id, t.slug AS tenant, s.target_url, s.event_types, s.is_active, s.failed_attempts, s.failing_since
        FROM webhook_subscription s JOIN tenant t ON t.id = s.tenant_id
        WHERE ${sql.and([
          sql`true`,
          ...(tenantId === null ? [] : [sql`s.tenant_id = ${tenantId}`]),
          ...(failing ? [sql`s.failing_since IS NOT NULL`] : [])
        ])}
        ORDER BY s.failing_since NULLS LAST, s.created_at DESC, s.id LIMIT ${listLimit}`.withoutTransform
      )
      return {
        results: rows.map((row) => ({
          ...masked(row),
          event_types: row.event_types.join(","),
          failing_since: Timestamp.formatOrNull(row.failing_since)
        }))
      }
    })
  }),
  Command.make("endpoint disable", {
    summary: "disables a webhook subscription; deliveries that wait for it fail",
    input: { id, reason: Flag.reason },
    run: ({ id, reason = "the operator disabled the subscription" }) =>
      Effect.flatMap(Audit.byOperator, (by) =>
        Webhooks.use((webhooks) => Effect.map(webhooks.disable(id, by, reason), masked))
      )
  }),
  Command.make("endpoint enable", {
    summary: "enables a webhook subscription; nothing is sent again",
    input: { id },
    run: ({ id }) =>
      Effect.flatMap(Audit.byOperator, (by) => Webhooks.use((webhooks) => Effect.map(webhooks.enable(id, by), masked)))
  }),
  Command.make("delivery resend", {
    summary: "makes a webhook delivery that has finished again",
    input: { id: Flag.argument("id", Id.spelledUuid(Id.DeliveryId), "the delivery") },
    run: ({ id }) => Effect.flatMap(Audit.byOperator, (by) => Webhooks.use((webhooks) => webhooks.resend(id, by)))
  })
]
