import { Effect } from "effect"
import { AuditLog } from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "./TenantReference.ts"

/** guide/operation.md#audit-and-ledger. */
export const commands = [
  Command.make("audit list", {
    summary: "lists who changed what of a tenant, or without one what the operator changed for all, the newest first",
    input: {
      tenant: TenantReference.optional,
      action: Flag.optional(Flag.text(200), "only this action, as key.revoked"),
      resourceType: Flag.optional(Flag.text(200), "only changes of resources of this type", { value: "TYPE" }),
      resourceId: Flag.optional(Flag.text(200), "only changes of this resource", { value: "ID" }),
      actorType: Flag.optional(Flag.text(200), "only changes by actors of this type", { value: "TYPE" }),
      ...Flag.created,
      limit: Flag.limit(50),
      after: Flag.after
    },
    columns: "occurred_at actor action resource changes ip",
    run: Effect.fnUntraced(function* ({ after, limit, tenant, ...filters }) {
      const tenantId = yield* TenantReference.idOrNull(tenant)
      const page = yield* (yield* AuditLog).list(tenantId, filters, Flag.window(limit, after))
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
  })
]
