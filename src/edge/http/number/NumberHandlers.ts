import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Numbers } from "../../../numbers/number/Number.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../request/Authenticator.ts"
import { CurrentSlot } from "../request/CurrentSlot.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "numbers",
  Effect.fnUntraced(function* (handlers) {
    const numbers = yield* Numbers

    return handlers.handleAll({
      available: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return Pagination.whole(yield* numbers.search(tenantId, query))
      }),
      toll_free: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return Pagination.whole(yield* numbers.search(tenantId, { ...query, numberType: "toll_free" }))
      }),
      order: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(numbers.order(yield* CurrentKey, payload, slot))
      }),
      orders: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/numbers/orders", query, (window, filters) =>
          numbers.orders(tenantId, filters, window)
        )
      }),
      retrieve_order: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* numbers.findOrder(tenantId, params.id))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/numbers", query, (window, filters) =>
          numbers.list(tenantId, filters, window)
        )
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* numbers.find(tenantId, params.id))
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(numbers.update(yield* CurrentKey, params.id, payload, slot))
      }),
      release: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(numbers.release(yield* CurrentKey, params.id, slot))
      }),
      add_emergency_address: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(numbers.addAddress(yield* CurrentKey, payload, slot))
      }),
      emergency_addresses: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        return yield* Pagination.answer("/v1/numbers/emergency-addresses", query, (window) =>
          numbers.addresses(tenantId, window)
        )
      }),
      retrieve_emergency_address: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* numbers.findAddress(tenantId, params.id))
      }),
      remove_emergency_address: Effect.fnUntraced(function* ({ params }) {
        const { slot } = yield* CurrentSlot
        return yield* JsonResponse.rendered(numbers.removeAddress(yield* CurrentKey, params.id, slot))
      }),
      lookup: Effect.fnUntraced(function* ({ params, query }) {
        return JsonResponse.of(yield* numbers.lookup(yield* CurrentKey, params.phone_number, query.type))
      })
    })
  })
)
