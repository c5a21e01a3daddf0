import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import type { NumberId, OrderId, RouteId, TenantId } from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

export const numberTypes = ["local", "toll_free", "mobile", "national"] as const
export const NumberType = Schema.Literals(numberTypes)
export type NumberType = (typeof numberTypes)[number]

export const NumberStatus = Schema.Literals(["pending", "active", "failed", "port_pending", "released", "ported_out"])
export type NumberStatus = typeof NumberStatus.Type

export const OrderStatus = Schema.Literals(["pending", "completed", "partial", "failed"])
export type OrderStatus = typeof OrderStatus.Type

/** Stand on what can be ordered, on orders and on numbers. */
const phoneNumber = Field.text("E.164.", "+12025550150")
const countryCode = Field.text("ISO 3166-1 alpha-2.", "US")
const numberType = NumberType.annotate({ description: "What kind of number.", examples: ["local"] })
const features = Field.texts("What it can be used for.", ["voice"])
const upfront = Field.cents("Once, with the order.")
const monthly = Field.cents("Each month.")
const routeId = Field.idOrNull("route", "The connection of its calls; null: the default one.")
const customerReference = Field.textOrNull("As given with the order.", "order 7")

/** A number that can be ordered; prices are ours, not the carrier's. */
export const AvailableNumber = Schema.Struct({
  phone_number: phoneNumber,
  number_type: numberType,
  country_code: countryCode,
  national_destination_code: Field.textOrNull("The area code, where there is one.", "202"),
  region: Field.textOrNull("State or province.", "DC"),
  locality: Field.textOrNull("Town.", "Washington"),
  rate_center: Field.textOrNull("The carrier's name of the area.", null),
  features,
  upfront_cost_cents: upfront,
  monthly_cost_cents: monthly,
  reservable: Field.flag("Can be ordered.", true),
  immediate_activation: Field.flag("Works as soon as the order is completed.", true)
}).annotate({ identifier: "AvailableNumber" })
export type AvailableNumberView = typeof AvailableNumber.Type

const OrderedNumber = Schema.Struct({
  id: Field.idOrNull("did", "The number; null when there is none."),
  phone_number: phoneNumber,
  status: Field.oneOf("What became of it.", ["pending", "active", "failed"]),
  failure_reason: Field.textOrNull("Why it failed; null when it did not.", null)
})
export type OrderedNumberView = typeof OrderedNumber.Type

export const NumberOrder = Schema.Struct({
  id: Field.id("order", "The order."),
  status: OrderStatus.annotate({ description: "`partial`: some numbers failed.", examples: ["pending"] }),
  country_code: countryCode,
  number_type: numberType,
  phone_numbers: Schema.Array(OrderedNumber).annotate({ description: "Each number of the order." }),
  upfront_cost_cents: Field.cents("Debited with the order."),
  monthly_cost_cents: Field.cents("Each month, for all of its numbers."),
  refunded_cents: Field.signedCents("Given back for numbers that failed.", 0),
  route_id: routeId,
  customer_reference: customerReference,
  created_at: Field.moment("When it was placed."),
  completed_at: Field.momentOrNull("When the last of its numbers was settled; null while `pending`.")
}).annotate({ identifier: "NumberOrder" })
export type NumberOrderView = typeof NumberOrder.Type

const inboundRecording = Schema.Struct({
  enabled: Field.flag("Whether inbound calls are recorded.", false),
  format: Field.oneOf("Of the recordings.", ["mp3", "wav"]),
  channels: Field.oneOf("Of the recordings.", ["single", "dual"])
}).annotate({ description: "How inbound calls are recorded. Not built yet: always off." })

/** A tenant's number, guide/numbers.md#owned-numbers. What has no feature behind it yet shows its neutral value. */
export const PhoneNumber = Schema.Struct({
  id: Field.id("did", "The number."),
  phone_number: phoneNumber,
  country_code: countryCode,
  number_type: numberType,
  status: NumberStatus.annotate({
    description: "Only an `active` number places and takes calls.",
    examples: ["active"]
  }),
  name: Field.textOrNull("Not built yet: always null.", null),
  route_id: routeId,
  features,
  messaging_enabled: Field.flag("There is no messaging here: always false.", false),
  caller_id_name: Field.textOrNull("Not built yet: always null.", null),
  inbound_recording: inboundRecording,
  emergency_enabled: Field.flag("Not built yet: always false.", false),
  emergency_address_id: Field.textOrNull("Not built yet: always null.", null),
  customer_reference: customerReference,
  tags: Field.texts("Not built yet: always empty.", []),
  source: Field.oneOf("Where it came from.", ["order", "port"]),
  order_id: Field.idOrNull("order", "The order that it came with."),
  porting_order_id: Field.textOrNull("Not built yet: always null.", null),
  upfront_cost_cents: upfront,
  monthly_cost_cents: monthly,
  next_renewal_at: Field.momentOrNull("When the next month is due.", "2026-02-01T00:00:00.000Z"),
  activated_at: Field.momentOrNull("Null while `pending`.", "2026-01-01T00:00:00.000Z"),
  released_at: Field.momentOrNull("Null while the workspace has it."),
  created_at: Field.moment("When it was ordered."),
  updated_at: Field.moment("When one of these fields changed last.")
}).annotate({ identifier: "PhoneNumber" })
export type PhoneNumberView = typeof PhoneNumber.Type

/** Times in epoch milliseconds. */
export interface OrderRow {
  readonly id: OrderId
  readonly tenantId: TenantId
  readonly status: OrderStatus
  readonly countryCode: string
  readonly numberType: NumberType
  readonly phoneNumbers: ReadonlyArray<OrderedNumberView>
  readonly upfrontCostCents: number
  readonly monthlyCostCents: number
  readonly refundedCents: number
  readonly routeId: RouteId | null
  readonly customerReference: string | null
  readonly createdAt: number
  readonly completedAt: number | null
}

export interface NumberRow {
  readonly id: NumberId
  readonly phoneNumber: string
  readonly countryCode: string
  readonly numberType: NumberType
  readonly status: NumberStatus
  readonly name: string | null
  readonly routeId: RouteId | null
  readonly features: ReadonlyArray<string>
  readonly customerReference: string | null
  readonly tags: ReadonlyArray<string>
  readonly orderId: OrderId | null
  readonly upfrontCostCents: number
  readonly monthlyCostCents: number
  readonly nextRenewalAt: number | null
  readonly activatedAt: number | null
  readonly releasedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const order = (row: OrderRow): NumberOrderView => ({
  id: row.id,
  status: row.status,
  country_code: row.countryCode,
  number_type: row.numberType,
  phone_numbers: row.phoneNumbers.map(({ failure_reason, id, phone_number, status }) => ({
    id,
    phone_number,
    status,
    failure_reason
  })),
  upfront_cost_cents: row.upfrontCostCents,
  monthly_cost_cents: row.monthlyCostCents,
  refunded_cents: row.refundedCents,
  route_id: row.routeId,
  customer_reference: row.customerReference,
  created_at: Timestamp.format(row.createdAt),
  completed_at: Timestamp.formatOrNull(row.completedAt)
})

export const number = (row: NumberRow): PhoneNumberView => ({
  id: row.id,
  phone_number: row.phoneNumber,
  country_code: row.countryCode,
  number_type: row.numberType,
  status: row.status,
  name: row.name,
  route_id: row.routeId,
  features: row.features,
  messaging_enabled: false,
  caller_id_name: null,
  inbound_recording: { enabled: false, format: "mp3", channels: "single" },
  emergency_enabled: false,
  emergency_address_id: null,
  customer_reference: row.customerReference,
  tags: row.tags,
  source: "order",
  order_id: row.orderId,
  porting_order_id: null,
  upfront_cost_cents: row.upfrontCostCents,
  monthly_cost_cents: row.monthlyCostCents,
  next_renewal_at: Timestamp.formatOrNull(row.nextRenewalAt),
  activated_at: Timestamp.formatOrNull(row.activatedAt),
  released_at: Timestamp.formatOrNull(row.releasedAt),
  created_at: Timestamp.format(row.createdAt),
  updated_at: Timestamp.format(row.updatedAt)
})
