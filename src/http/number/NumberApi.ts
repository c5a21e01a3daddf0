import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { E164 } from "../../domain/E164.ts"
import {
  AvailableNumber,
  NumberOrder,
  NumberStatus,
  NumberType,
  OrderStatus,
  PhoneNumber
} from "../../number/NumberView.ts"
import { Authenticated } from "../Authenticated.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../Pagination.ts"
import * as PathId from "../PathId.ts"
import * as Query from "../Query.ts"
import * as Text from "../Text.ts"

/** Phone numbers, guide/numbers.md. */

const params = { id: PathId.prefixed("did") }

const pattern = Schema.String.check(
  Schema.isPattern(/^\+?[0-9]{1,15}$/u, { message: "must be 1 to 15 digits; with + in front, of the whole number" })
)

const limit = Query.positive.check(Schema.isLessThanOrEqualTo(100, { message: "must be 100 or less" }))

const searchable = {
  country_code: Text.country,
  national_destination_code: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[0-9]{1,8}$/u, { message: "must be 1 to 8 digits" }))
  ),
  contains: Schema.optionalKey(pattern),
  starts_with: Schema.optionalKey(
    pattern.annotate({ description: "Compared from the national destination code on; with `+`, from the beginning." })
  ),
  ends_with: Schema.optionalKey(pattern),
  locality: Schema.optionalKey(Text.of(1, 120)),
  region: Schema.optionalKey(Text.of(1, 120)),
  features: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[a-z0-9_]{1,32}(,[a-z0-9_]{1,32}){0,15}$/u, { message: "must be words separated by commas" })
    )
  ),
  limit: Schema.optionalKey(limit.annotate({ description: "1 to 100; default 20." }))
}

const available = HttpApiEndpoint.get("available", "/v1/numbers/available", {
  query: { ...searchable, number_type: Schema.optionalKey(NumberType.annotate({ description: "Default `local`." })) },
  success: Pagination.envelope(AvailableNumber)
}).annotateMerge(
  about({
    summary: "Search numbers that can be ordered",
    scope: "numbers:read",
    refusals: ["no_pricing_tier_configured"]
  })
)

const tollFree = HttpApiEndpoint.get("toll_free", "/v1/numbers/toll-free/available", {
  query: { ...searchable },
  success: Pagination.envelope(AvailableNumber)
}).annotateMerge(
  about({
    summary: "Search toll-free numbers",
    description: "The same as `number_type=toll_free`.",
    scope: "numbers:read",
    refusals: ["no_pricing_tier_configured"]
  })
)

export const OrderNumbers = Schema.Struct({
  phone_numbers: Schema.Array(E164).check(Schema.isMinLength(1), Schema.isMaxLength(50)),
  country_code: Text.country,
  number_type: NumberType,
  route_id: Schema.optionalKey(Schema.NullOr(PathId.prefixed("route"))),
  customer_reference: Text.optional(128)
}).annotate({ identifier: "OrderNumbers" })

const order = HttpApiEndpoint.post("order", "/v1/numbers/order", {
  payload: OrderNumbers,
  success: NumberOrder.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Order numbers",
    description: "Debits the upfront cost first, then activates; the outcome is a `number_order.*` event.",
    scope: "numbers:write",
    refusals: ["unprocessable", "not_found", "no_pricing_tier_configured", "order_invalid", "insufficient_balance"]
  })
)

const orders = HttpApiEndpoint.get("orders", "/v1/numbers/orders", {
  query: { status: Schema.optionalKey(OrderStatus), ...Pagination.parameters },
  success: Pagination.envelope(NumberOrder)
}).annotateMerge(about({ summary: "List number orders", scope: "numbers:read", refusals: ["not_found"] }))

const retrieveOrder = HttpApiEndpoint.get("retrieve_order", "/v1/numbers/orders/:id", {
  params: { id: PathId.prefixed("order") },
  success: NumberOrder
}).annotateMerge(about({ summary: "Retrieve a number order", scope: "numbers:read" }))

const list = HttpApiEndpoint.get("list", "/v1/numbers", {
  query: {
    status: Schema.optionalKey(NumberStatus),
    country_code: Schema.optionalKey(Text.country),
    number_type: Schema.optionalKey(NumberType),
    phone_number: Schema.optionalKey(E164),
    route_id: Schema.optionalKey(PathId.filter("route")),
    ...Pagination.parameters
  },
  success: Pagination.envelope(PhoneNumber)
}).annotateMerge(about({ summary: "List the tenant's numbers", scope: "numbers:read", refusals: ["not_found"] }))

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/numbers/:id", { params, success: PhoneNumber }).annotateMerge(
  about({ summary: "Retrieve a number", scope: "numbers:read", refusals: ["number_not_found"] })
)

const notBuilt = {
  description: "Not built yet: answers 422 `unprocessable`.",
  refusals: ["unprocessable", "number_not_found"] as const
}

const update = HttpApiEndpoint.patch("update", "/v1/numbers/:id", { params, success: PhoneNumber }).annotateMerge(
  about({ summary: "Configure a number", scope: "numbers:write", ...notBuilt })
)

const release = HttpApiEndpoint.delete("release", "/v1/numbers/:id", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(about({ summary: "Release a number", scope: "numbers:write", ...notBuilt }))

const lookup = HttpApiEndpoint.get("lookup", "/v1/numbers/lookup/:phone_number", {
  params: { phone_number: E164 },
  query: {
    type: Schema.Literals(["carrier", "caller_name"]).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed("carrier" as const))
    )
  },
  success: Schema.Json
}).annotateMerge(
  about({
    summary: "Look a number up",
    description: notBuilt.description,
    scope: "numbers:read",
    refusals: ["unprocessable"]
  })
)

export class NumberApi extends HttpApiGroup.make("numbers")
  .add(available, tollFree, order, orders, retrieveOrder, list, retrieve, update, release, lookup)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Numbers", description: "Searched, ordered and owned." })) {}
