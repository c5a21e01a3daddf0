import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { E164, KeptE164 } from "../../../domain/E164.ts"
import { NumberLookup, NumberView } from "../../../numbers/number/Number.ts"
import * as Name from "../../../domain/schema/Name.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import * as EmergencyAddressEndpoints from "./EmergencyAddressEndpoints.ts"
import { body, matching, nullable, of, only, optional } from "../../../domain/schema/RequestField.ts"

/** Phone numbers, guide/numbers.md. */

const { get, list, patch, post, remove } = endpoints({ reads: "numbers:read", writes: "numbers:write" })

const params = { id: PathId.prefixed("did", "number_not_found").annotate({ description: "The number." }) }

const part = (description: string, example: string) => optional(digits, description, example)

const word = (description: string, example: string) => optional(Text.of(1, 120), description, example)

const digits = matching(/^\+?[0-9]{1,15}$/u, "must be 1 to 15 digits; with + in front, of the whole number")

const searchable = {
  countryCode: Text.country,
  nationalDestinationCode: optional(matching(/^[0-9]{1,8}$/u, "must be 1 to 8 digits"), "The area code.", "202"),
  contains: part("Digits somewhere in the number.", "555"),
  startsWith: part("Compared from the national destination code on; with `+`, from the beginning.", "202"),
  endsWith: part("Digits at the end.", "77"),
  locality: word("Town, in any case.", "Washington"),
  region: word("State or province, in any case.", "DC"),
  features: Schema.optionalKey(
    matching(/^[a-z0-9_]{1,32}(,[a-z0-9_]{1,32}){0,15}$/u, "must be words separated by commas")
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

const OrderNumbers = body("OrderNumbers", {
  phoneNumbers: of(
    Schema.Array(E164).check(Schema.isMinLength(1), Schema.isMaxLength(50)),
    "Each once, out of the available ones.",
    ["+12025550150"]
  ),
  countryCode: Text.country,
  numberType: of(NumberView.NumberType, "What kind of numbers.", "local"),
  routeId: nullable(PathId.prefixed("route"), "The connection of their calls; null: the default one.", null),
  customerReference: Text.optional(128, "Shown on the order and its numbers.", "order 7")
})

const tags = Schema.Array(Name.of(64)).check(
  Schema.makeFilter(
    (words: ReadonlyArray<string>) => (new Set(words).size === words.length ? undefined : "must hold each tag once"),
    { toJsonSchema: () => ({ uniqueItems: true }) }
  ),
  Schema.isMaxLength(50)
)

const callerIdName = matching(/^[A-Z0-9 ]{1,15}$/u, "must be 1 to 15 of A-Z, 0-9 and space").check(Name.isVisible)

const ConfigureNumber = body("ConfigureNumber", {
  routeId: optional(
    Schema.NullOr(PathId.prefixed("route")),
    "The connection on which its inbound calls are told; null: the default one.",
    null
  ),
  name: optional(Schema.NullOr(Name.of(120)), "What you call it.", "Front desk"),
  customerReference: optional(Schema.NullOr(Text.of(0, 128)), "Yours.", "order 7"),
  tags: optional(tags, "Your own words, each once; they replace the ones before.", ["sales"]),
  messagingEnabled: optional(Schema.Boolean, "This service sends no messages: true is refused.", false),
  callerIdName: optional(
    Schema.NullOr(callerIdName),
    "The name that calls from it show to SIP trunks; null: none.",
    "ACME INC"
  ),
  inboundRecording: Schema.optionalKey(
    Wire.struct({
      enabled: optional(Schema.Boolean, "Whether inbound calls are recorded.", true),
      format: optional(Schema.Literals(NumberView.recordingFormats), "Of the recordings.", "mp3"),
      channels: optional(Schema.Literals(NumberView.recordingChannels), "Of the recordings.", "dual")
    }).pipe(Schema.annotateEncoded({ description: "How calls to it are recorded; fields left out stay." }))
  ),
  emergencyAddressId: optional(
    Schema.NullOr(PathId.prefixed("addr")),
    "The emergency address that it anchors; null: none.",
    null
  )
})

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
      description:
        "Debits the upfront cost, the first month and the months that the workspace owes, then activates; the outcome is a `number_order.*` event.",
      errors: ["unprocessable", "not_found", "no_pricing_tier_configured", "order_invalid", "insufficient_balance"]
    }),
    list("orders", "/v1/numbers/orders", "List number orders", NumberView.NumberOrder, {
      filters: {
        status: only(NumberView.OrderStatus, "Only with this status.")
      }
    }),
    get("retrieve_order", "/v1/numbers/orders/:id", "Retrieve a number order", {
      params: { id: PathId.prefixed("order").annotate({ description: "The order." }) },
      success: NumberView.NumberOrder
    }),
    list("list", "/v1/numbers", "List the tenant's numbers", NumberView.PhoneNumber, {
      filters: {
        status: only(NumberView.NumberStatus, "Only with this status."),
        countryCode: Schema.optionalKey(Text.country),
        numberType: only(NumberView.NumberType, "Only of this kind."),
        phoneNumber: only(KeptE164, "Only this number, E.164."),
        routeId: only(PathId.filter("route"), "Only of this connection.")
      }
    }),
    get("lookup", "/v1/numbers/lookup/:phone_number", "Look a number up", {
      params: { phone_number: KeptE164.annotate({ description: "The number to look up, E.164." }) },
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
