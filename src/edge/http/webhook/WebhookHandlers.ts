import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Webhooks } from "../../../webhook/Webhook.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(webhooks.create(caller, payload, slot))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/webhook-subscriptions", query, (window) => webhooks.list(tenantId, window))
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* webhooks.find(tenantId, params.id))
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(webhooks.update(caller, params.id, payload, slot))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(webhooks.remove(caller, params.id, slot))
      }),
      secret: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return yield* webhooks.secretOf(tenantId, params.id)
      }),
      redeliver: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(webhooks.redeliver(caller, params.id, slot))
      }),
      redeliverRange: Effect.fnUntraced(function* ({ params, payload }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        const { createdAfterMs = null, createdBeforeMs = null, status } = payload
        return yield* JsonResponse.rendered(
          webhooks.redeliverRange(caller, params.id, { createdAfterMs, createdBeforeMs, status }, slot)
        )
      }),
      test: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(webhooks.test(caller, params.id, slot))
      }),
      deliveries: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/webhook-deliveries", query, (window, filters) =>
          webhooks.deliveries(tenantId, filters, window)
        )
      })
    })
  })
)
