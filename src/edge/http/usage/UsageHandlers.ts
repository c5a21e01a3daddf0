import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Usages } from "../../../money/usage/Usage.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "usage",
  Effect.fnUntraced(function* (handlers) {
    const usages = yield* Usages
    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* usages.report(tenantId, query))
      })
    })
  })
)
