import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Numbers } from "../../../numbers/number/Number.ts"
import { Api } from "../Api.ts"
import { list, read, whole, write } from "../Handler.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import { CurrentKey } from "../request/Authenticator.ts"

export const layer = HttpApiBuilder.group(Api, "numbers", (handlers) =>
  Effect.map(Numbers, (numbers) =>
    handlers.handleAll({
      available: whole((tenantId, { query }) => numbers.search(tenantId, query)),
      toll_free: whole((tenantId, { query }) => numbers.search(tenantId, { ...query, numberType: "toll_free" })),
      order: write((caller, { payload }, slot) => numbers.order(caller, payload, slot)),
      orders: list((tenantId, window, filters) => numbers.orders(tenantId, filters, window)),
      retrieve_order: read((tenantId, { params }) => numbers.findOrder(tenantId, params.id)),
      list: list((tenantId, window, filters) => numbers.list(tenantId, filters, window)),
      retrieve: read((tenantId, { params }) => numbers.find(tenantId, params.id)),
      update: write((caller, { params, payload }, slot) => numbers.update(caller, params.id, payload, slot)),
      release: write((caller, { params }, slot) => numbers.release(caller, params.id, slot)),
      add_emergency_address: write((caller, { payload }, slot) => numbers.addAddress(caller, payload, slot)),
      emergency_addresses: list(numbers.addresses),
      retrieve_emergency_address: read((tenantId, { params }) => numbers.findAddress(tenantId, params.id)),
      remove_emergency_address: write((caller, { params }, slot) => numbers.removeAddress(caller, params.id, slot)),
      lookup: Effect.fnUntraced(function* ({ params, query }) {
        return JsonResponse.of(yield* numbers.lookup(yield* CurrentKey, params.phone_number, query.type))
      })
    })
  )
)
