import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Webhooks } from "../../webhook/Webhook.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../Authenticator.ts"
import { CurrentSlot } from "../CurrentSlot.ts"
import * as Pagination from "../Pagination.ts"
import * as JsonResponse from "../JsonResponse.ts"

/** Webhook subscriptions and deliveries, from wire to door. */
export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* CurrentKey
        const { slot } = yield* CurrentSlot
        const request = {
          targetUrl: payload.target_url,
          eventTypes: payload.event_types,
          description: payload.description ?? null,
          connectionId: payload.connection_id ?? null
        }
        return yield* JsonResponse.rendered(webhooks.create(caller, request, slot))
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
        const { connection_id, description, event_types, is_active, target_url } = payload
        const patch = {
          ...(target_url === undefined ? {} : { targetUrl: target_url }),
          ...(event_types === undefined ? {} : { eventTypes: event_types }),
          ...(description === undefined ? {} : { description }),
          ...(connection_id === undefined ? {} : { connectionId: connection_id }),
          ...(is_active === undefined ? {} : { isActive: is_active })
        }
        return yield* JsonResponse.rendered(webhooks.update(caller, params.id, patch, slot))
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
      deliveries: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        const { created_after, event_type, status, subscription_id } = query
        const filters = {
          ...(subscription_id === undefined ? {} : { subscriptionId: subscription_id }),
          ...(status === undefined ? {} : { status }),
          ...(event_type === undefined ? {} : { eventType: event_type }),
          ...(created_after === undefined ? {} : { createdAfterMs: created_after })
        }
        return yield* Pagination.answer("/v1/webhook-deliveries", query, (window) =>
          webhooks.deliveries(tenantId, filters, window)
        )
      })
    })
  })
)
