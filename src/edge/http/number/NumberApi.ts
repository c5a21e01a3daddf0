import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { E164 } from "../../../domain/E164.ts"
import { NumberLookup, NumberView } from "../../../numbers/number/Number.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import * as EmergencyAddressEndpoints from "./EmergencyAddressEndpoints.ts"

/** Phone numbers, guide/numbers.md. */

const { get, list, patch, post, remove } = endpoints({ reads: "numbers:read", writes: "numbers:write" })

const params = { id: PathId.prefixed("did", "number_not_found").annotate({ description: "The number." }) }

const part = (description: string, example: string) =>
  Schema.optionalKey(digits.annotate({ description, examples: [example] }))

const word = (description: string, example: string) =>
  Schema.optionalKey(Text.of(1, 120).annotate({ description, examples: [example] }))

const digits = Schema.String.check(
  Schema.isPattern(/^\+?[0-9]{1,15}$/u, { message: "must be 1 to 15 digits; with + in front, of the whole number" })
)

const searchable = {
  countryCode: Text.country,
  nationalDestinationCode: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[0-9]{1,8}$/u, { message: "must be 1 to 8 digits" })).annotate({
      description: "The area code.",
      examples: ["202"]
    })
  ),
  contains: part("Digits somewhere in the number.", "555"),
  startsWith: part("Compared from the national destination code on; with `+`, from the beginning.", "202"),
  endsWith: part("Digits at the end.", "77"),
  locality: word("Town, in any case.", "Washington"),
  region: word("State or province, in any case.", "DC"),
  features: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[a-z0-9_]{1,32}(,[a-z0-9_]{1,32}){0,15}$/u, { message: "must be words separated by commas" })
    )
      .annotate({ description: "What it must be usable for, separated by commas.", examples: ["voice"] })
      .pipe(
        Schema.decodeTo(
          Schema.Array(Schema.String),
          SchemaTransformation.transform<ReadonlyArray<string>, string>({
            decode: (text) => text.split(","),
            encode: (words) => words.join(",")
          })
        )
      )
  ),
  limit: Wire.absentIs(
    String(Pagination.defaultPageSize),
    Query.positive({ description: "How many are shown at most.", default: Pagination.defaultPageSize, maximum: 100 })
  )
}

const OrderNumbers = Wire.struct({
  phoneNumbers: Schema.Array(E164)
    .check(Schema.isMinLength(1), Schema.isMaxLength(50))
    .annotate({ description: "Each once, out of the available ones.", examples: [["+12025550150"]] }),
  countryCode: Text.country,
  numberType: NumberView.NumberType.annotate({ description: "What kind of numbers.", examples: ["local"] }),
  routeId: Wire.absentIs(
    null,
    Schema.NullOr(PathId.prefixed("route")).annotate({
      description: "The connection of their calls; null: the default one.",
      examples: [null]
    })
  ),
  customerReference: Text.optional(128, "Shown on the order and its numbers.", "order 7")
}).pipe(Schema.annotateEncoded({ identifier: "OrderNumbers" }))

const tags = Schema.Array(Text.of(1, 64)).check(
  Schema.makeFilter(
    (words: ReadonlyArray<string>) => (new Set(words).size === words.length ? undefined : "must hold each tag once"),
    { toJsonSchema: () => ({ uniqueItems: true }) }
  ),
  Schema.isMaxLength(50)
)

const callerIdName = Schema.String.check(
  Schema.isPattern(/^[A-Z0-9 ]{1,15}$/u, { message: "must be 1 to 15 of A-Z, 0-9 and space" })
)

const ConfigureNumber = Wire.struct({
  routeId: Schema.optionalKey(
    Schema.NullOr(PathId.prefixed("route")).annotate({
      description: "The connection on which its inbound calls are told; null: the default one.",
      examples: [null]
    })
  ),
  name: Schema.optionalKey(
    Schema.NullOr(Text.of(1, 120)).annotate({ description: "What you call it.", examples: ["Front desk"] })
  ),
  customerReference: Schema.optionalKey(
    Schema.NullOr(Text.of(0, 128)).annotate({ description: "Yours.", examples: ["order 7"] })
  ),
  tags: Schema.optionalKey(
    tags.annotate({ description: "Your own words, each once; they replace the ones before.", examples: [["sales"]] })
  ),
  messagingEnabled: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "This service sends no messages: true is refused.", examples: [false] })
  ),
  callerIdName: Schema.optionalKey(
    Schema.NullOr(callerIdName).annotate({
      description: "The name that calls from it show to SIP trunks; null: none.",
      examples: ["ACME INC"]
    })
  ),
  inboundRecording: Schema.optionalKey(
    Wire.struct({
      enabled: Schema.optionalKey(
        Schema.Boolean.annotate({ description: "Whether inbound calls are recorded.", examples: [true] })
      ),
      format: Schema.optionalKey(
        Schema.Literals(NumberView.recordingFormats).annotate({ description: "Of the recordings.", examples: ["mp3"] })
      ),
      channels: Schema.optionalKey(
        Schema.Literals(NumberView.recordingChannels).annotate({
          description: "Of the recordings.",
          examples: ["dual"]
        })
      )
    }).pipe(Schema.annotateEncoded({ description: "How calls to it are recorded; fields left out stay." }))
  ),
  emergencyAddressId: Schema.optionalKey(
    Schema.NullOr(PathId.prefixed("addr")).annotate({
      description: "The emergency address that it anchors; null: none.",
      examples: [null]
    })
  )
}).pipe(Schema.annotateEncoded({ identifier: "ConfigureNumber" }))

export class NumberApi extends HttpApiGroup.make("numbers")
  .add(
    get("available", "/v1/numbers/available", "Search numbers that can be ordered", {
      query: Wire.struct({
        ...searchable,
        numberType: Wire.absentIs(
          "local",
          NumberView.NumberType.annotate({ description: "What kind of number; without it `local`." })
        )
      }),
      success: Pagination.envelope(NumberView.AvailableNumber),
      errors: ["no_pricing_tier_configured"]
    }),
    get("toll_free", "/v1/numbers/toll-free/available", "Search toll-free numbers", {
      query: Wire.struct(searchable),
      success: Pagination.envelope(NumberView.AvailableNumber),
      description: "The same as `number_type=toll_free`.",
      errors: ["no_pricing_tier_configured"]
    }),
    post("order", "/v1/numbers/order", "Order numbers", {
      payload: OrderNumbers,
      success: NumberView.NumberOrder.pipe(HttpApiSchema.status(201)),
      description: "Debits the upfront cost first, then activates; the outcome is a `number_order.*` event.",
      errors: ["unprocessable", "not_found", "no_pricing_tier_configured", "order_invalid", "insufficient_balance"]
    }),
    list("orders", "/v1/numbers/orders", "List number orders", NumberView.NumberOrder, {
      filters: {
        status: Schema.optionalKey(NumberView.OrderStatus.annotate({ description: "Only with this status." }))
      }
    }),
    get("retrieve_order", "/v1/numbers/orders/:id", "Retrieve a number order", {
      params: { id: PathId.prefixed("order").annotate({ description: "The order." }) },
      success: NumberView.NumberOrder
    }),
    list("list", "/v1/numbers", "List the tenant's numbers", NumberView.PhoneNumber, {
      filters: {
        status: Schema.optionalKey(NumberView.NumberStatus.annotate({ description: "Only with this status." })),
        countryCode: Schema.optionalKey(Text.country),
        numberType: Schema.optionalKey(NumberView.NumberType.annotate({ description: "Only of this kind." })),
        phoneNumber: Schema.optionalKey(E164.annotate({ description: "Only this number, E.164." })),
        routeId: Schema.optionalKey(PathId.filter("route").annotate({ description: "Only of this connection." }))
      }
    }),
    get("lookup", "/v1/numbers/lookup/:phone_number", "Look a number up", {
      params: { phone_number: E164.annotate({ description: "The number to look up, E.164." }) },
      query: {
        type: Schema.Literals(["carrier", "caller_name"])
          .annotate({ description: "What is asked." })
          .pipe(Schema.withDecodingDefaultKey(Effect.succeed("carrier" as const)))
      },
      success: NumberLookup,
      description:
        "What the source does not know is null. It costs what the operator asks for it, once it is answered.",
      errors: ["insufficient_balance", "upstream_error"]
    })
  )
  .add(...EmergencyAddressEndpoints.emergencyAddresses)
  .add(
    get("retrieve", "/v1/numbers/:id", "Retrieve a number", {
      params,
      success: NumberView.PhoneNumber,
      errors: ["number_not_found"]
    }),
    patch("update", "/v1/numbers/:id", "Configure a number", {
      params,
      payload: ConfigureNumber,
      success: NumberView.PhoneNumber,
      description: "Fields left out stay.",
      errors: [
        "number_not_found",
        "number_not_yet_active",
        "conflict",
        "messaging_profile_not_provisioned",
        "not_found",
        "unprocessable"
      ]
    }),
    remove("release", "/v1/numbers/:id", "Release a number", {
      params,
      description: "It rings nobody from now on. You may order it again for 14 days.",
      errors: ["number_not_found", "release_not_permitted"]
    })
  )
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Numbers", description: "Searched, ordered and owned." })) {}
