import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog } from "../../../runtime/audit/Audit.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import * as Pagination from "../answer/Pagination.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/audit", query, (window, filters) =>
          log.ofTenant(tenantId, filters, window)
        )
      })
    })
  })
)
