import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog } from "../../../runtime/audit/Audit.ts"
import { Api } from "../Api.ts"
import { list } from "../Handler.ts"

export const layer = HttpApiBuilder.group(Api, "audit", (handlers) =>
  Effect.map(AuditLog, (log) =>
    handlers.handleAll({
      list: list((tenantId, window, filters) => log.ofTenant(tenantId, filters, window))
    })
  )
)
