import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "connections",
  Effect.fnUntraced(function* (handlers) {
    const connections = yield* Trunks
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/connections", query, (window) => connections.list(tenantId, window))
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* connections.find(tenantId, params.id))
      })
    })
  })
)
