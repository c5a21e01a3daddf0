import { Effect, Schema } from "effect"
import { AuditLog } from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

const Text = Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))

/** `audit list`. */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const log = yield* AuditLog
  return [
    Operation.make(
      "audit/list",
      Schema.Struct({
        /** Absent: what the operator changed for all. */
        tenant: Schema.optionalKey(Operation.TenantRef),
        action: Text,
        resource_type: Text,
        resource_id: Text,
        actor_type: Text,
        created_after: Schema.optionalKey(Operation.Moment),
        created_before: Schema.optionalKey(Operation.Moment),
        limit: Schema.optionalKey(Operation.PageLimit),
        after: Text
      }),
      Effect.fnUntraced(function* (input) {
        const {
          action,
          actor_type,
          after,
          created_after,
          created_before,
          limit = 50,
          resource_id,
          resource_type
        } = input
        const tenantId = input.tenant === undefined ? null : (yield* tenants.findByReference(input.tenant)).id
        const page = yield* log.list(
          tenantId,
          {
            ...(action === undefined ? {} : { action }),
            ...(resource_type === undefined ? {} : { resourceType: resource_type }),
            ...(resource_id === undefined ? {} : { resourceId: resource_id }),
            ...(actor_type === undefined ? {} : { actorType: actor_type }),
            ...(created_after === undefined ? {} : { createdAfterMs: created_after }),
            ...(created_before === undefined ? {} : { createdBeforeMs: created_before })
          },
          { limit, ...(after === undefined ? {} : { after }) }
        )
        if (page === null) return yield* ApiError.of("invalid_request", "after: it is none that this list gave")
        return {
          next: page.next,
          results: page.results.map((line) => ({
            occurred_at: Timestamp.format(line.occurredAt),
            actor: [line.actorType, line.actorName ?? line.actorId].filter((part) => part !== null).join(" "),
            action: line.action,
            resource: `${line.resourceType} ${line.resourceId}`,
            changes: line.changes,
            ip: line.ip
          }))
        }
      })
    )
  ]
})
