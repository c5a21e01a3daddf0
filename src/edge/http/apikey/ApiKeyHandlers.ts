import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeys } from "../../../tenancy/apikey/ApiKey.ts"
import { Api } from "../Api.ts"
import { Authenticator, CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "api_keys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* ApiKeys
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(keys.create(yield* CurrentKey, payload, slot))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/api-keys/", query, (window) => keys.list(tenantId, window))
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* keys.find(tenantId, params.id))
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(keys.revoke(yield* CurrentKey, params.id, slot))
      })
    })
  })
)

/** Implements the edge's port with the keys. */
export const authenticator = Layer.effect(
  Authenticator,
  Effect.map(ApiKeys, ({ authenticate, tenantStatus }) => Authenticator.of({ authenticate, tenantStatus }))
)
