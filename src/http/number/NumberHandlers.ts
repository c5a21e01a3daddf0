import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { NumberId } from "../../domain/Id.ts"
import { type NumberFilters, Numbers, type Search } from "../../number/Number.ts"
import type { NumberType } from "../../number/NumberView.ts"
import * as NotBuiltYet from "../../domain/NotBuiltYet.ts"
import { Api } from "../Api.ts"
import { CurrentKey } from "../Authenticator.ts"
import { CurrentSlot } from "../CurrentSlot.ts"
import * as Pagination from "../Pagination.ts"
import * as JsonResponse from "../JsonResponse.ts"

interface Wanted {
  readonly country_code: string
  readonly national_destination_code?: string
  readonly contains?: string
  readonly starts_with?: string
  readonly ends_with?: string
  readonly locality?: string
  readonly region?: string
  readonly features?: string
  readonly limit?: number
}

const searchOf = (query: Wanted, numberType: NumberType): Search => ({
  countryCode: query.country_code.toUpperCase(),
  numberType,
  limit: query.limit ?? 20,
  ...(query.national_destination_code === undefined
    ? {}
    : { nationalDestinationCode: query.national_destination_code }),
  ...(query.contains === undefined ? {} : { contains: query.contains }),
  ...(query.starts_with === undefined ? {} : { startsWith: query.starts_with }),
  ...(query.ends_with === undefined ? {} : { endsWith: query.ends_with }),
  ...(query.locality === undefined ? {} : { locality: query.locality }),
  ...(query.region === undefined ? {} : { region: query.region }),
  ...(query.features === undefined ? {} : { features: query.features.split(",") })
})

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
      available: ({ query }) =>
        Effect.map(numbers.search(searchOf(query, query.number_type ?? "local")), Pagination.whole),
      toll_free: ({ query }) => Effect.map(numbers.search(searchOf(query, "toll_free")), Pagination.whole),
      order: Effect.fnUntraced(function* ({ payload }) {
        const { slot } = yield* CurrentSlot
        const request = {
          phoneNumbers: payload.phone_numbers,
          countryCode: payload.country_code.toUpperCase(),
          numberType: payload.number_type,
          routeId: payload.route_id ?? null,
          customerReference: payload.customer_reference ?? null
        }
        return yield* JsonResponse.rendered(numbers.order(yield* CurrentKey, request, slot))
      }),
      orders: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        const filters = query.status === undefined ? {} : { status: query.status }
        return yield* Pagination.answer("/v1/numbers/orders", query, (window) =>
          numbers.orders(tenantId, filters, window)
        )
      }),
      retrieve_order: Effect.fnUntraced(function* ({ params }) {
        const { tenantId } = yield* CurrentKey
        return JsonResponse.of(yield* numbers.findOrder(tenantId, params.id))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { tenantId } = yield* CurrentKey
        const filters: NumberFilters = {
          ...(query.status === undefined ? {} : { status: query.status }),
          ...(query.country_code === undefined ? {} : { countryCode: query.country_code.toUpperCase() }),
          ...(query.number_type === undefined ? {} : { numberType: query.number_type }),
          ...(query.phone_number === undefined ? {} : { phoneNumber: query.phone_number }),
          ...(query.route_id === undefined ? {} : { routeId: query.route_id })
        }
        return yield* Pagination.answer("/v1/numbers", query, (window) => numbers.list(tenantId, filters, window))
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
