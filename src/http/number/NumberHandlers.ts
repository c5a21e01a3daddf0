import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { NumberId } from "../../domain/Id.ts"
import { Numbers } from "../../number/Number.ts"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../Authenticator.ts"
import { CurrentSlot } from "../CurrentSlot.ts"
import * as Pagination from "../Pagination.ts"
import * as JsonResponse from "../JsonResponse.ts"

/** Phone numbers, from wire to door. */
export const layer = HttpApiBuilder.group(
  Api,
  "numbers",
  Effect.fnUntraced(function* (handlers) {
    const numbers = yield* Numbers

    /** A foreign or unknown number is a 404 here too. */
    const unbuilt = (what: string) =>
      Effect.fnUntraced(function* ({ params }: { readonly params: { readonly id: NumberId } }) {
        const { tenantId } = yield* CurrentKey
        yield* numbers.find(tenantId, params.id)
        return yield* NotBuiltYet.endpoint(what)
      })

    return handlers.handleAll({
      available: ({ query }) => Effect.map(numbers.search(query), Pagination.whole),
      toll_free: ({ query }) => Effect.map(numbers.search({ ...query, numberType: "toll_free" }), Pagination.whole),
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
      update: unbuilt("configuring a number"),
      release: unbuilt("releasing a number"),
      lookup: () => NotBuiltYet.endpoint("looking a number up")
    })
  })
)
