import { Schema } from "effect"
import * as Timestamp from "../domain/Timestamp.ts"

const OrNull = Schema.NullOr

export const numberTypes = ["local", "toll_free", "mobile", "national"] as const
export const NumberType = Schema.Literals(numberTypes)
export type NumberType = (typeof numberTypes)[number]

export const NumberStatus = Schema.Literals(["pending", "active", "failed", "port_pending", "released", "ported_out"])
export type NumberStatus = typeof NumberStatus.Type

export const OrderStatus = Schema.Literals(["pending", "completed", "partial", "failed"])
export type OrderStatus = typeof OrderStatus.Type

/** A number that can be ordered; prices are ours, not the carrier's. */
export const AvailableNumber = Schema.Struct({
  phone_number: Schema.String,
  number_type: NumberType,
  country_code: Schema.String,
  national_destination_code: OrNull(Schema.String),
  region: OrNull(Schema.String),
  locality: OrNull(Schema.String),
  rate_center: OrNull(Schema.String),
  features: Schema.Array(Schema.String),
  upfront_cost_cents: Schema.Int,
  monthly_cost_cents: Schema.Int,
  reservable: Schema.Boolean,
  immediate_activation: Schema.Boolean
}).annotate({ identifier: "AvailableNumber" })
export type AvailableNumberView = typeof AvailableNumber.Type

export const OrderedNumber = Schema.Struct({
  id: OrNull(Schema.String),
  phone_number: Schema.String,
  status: Schema.Literals(["pending", "active", "failed"]),
  failure_reason: OrNull(Schema.String)
})
export type OrderedNumberView = typeof OrderedNumber.Type

export const NumberOrder = Schema.Struct({
  id: Schema.String,
  status: OrderStatus,
  country_code: Schema.String,
  number_type: NumberType,
  phone_numbers: Schema.Array(OrderedNumber),
  upfront_cost_cents: Schema.Int,
  monthly_cost_cents: Schema.Int,
  refunded_cents: Schema.Int,
  route_id: OrNull(Schema.String),
  customer_reference: OrNull(Schema.String),
  created_at: Schema.String,
  completed_at: OrNull(Schema.String)
}).annotate({ identifier: "NumberOrder" })
export type NumberOrderView = typeof NumberOrder.Type

/** A tenant's number, guide/numbers.md#owned-numbers. What has no feature behind it yet shows its neutral value. */
export const PhoneNumber = Schema.Struct({
  id: Schema.String,
  phone_number: Schema.String,
  country_code: Schema.String,
  number_type: NumberType,
  status: NumberStatus,
  name: OrNull(Schema.String),
  route_id: OrNull(Schema.String),
  features: Schema.Array(Schema.String),
  messaging_enabled: Schema.Boolean,
  caller_id_name: OrNull(Schema.String),
  inbound_recording: Schema.Struct({
    enabled: Schema.Boolean,
    format: Schema.Literals(["mp3", "wav"]),
    channels: Schema.Literals(["single", "dual"])
  }),
  emergency_enabled: Schema.Boolean,
  emergency_address_id: OrNull(Schema.String),
  customer_reference: OrNull(Schema.String),
  tags: Schema.Array(Schema.String),
  source: Schema.Literals(["order", "port"]),
  order_id: OrNull(Schema.String),
  porting_order_id: OrNull(Schema.String),
  upfront_cost_cents: Schema.Int,
  monthly_cost_cents: Schema.Int,
  next_renewal_at: OrNull(Schema.String),
  activated_at: OrNull(Schema.String),
  released_at: OrNull(Schema.String),
  created_at: Schema.String,
  updated_at: Schema.String
}).annotate({ identifier: "PhoneNumber" })
export type PhoneNumberView = typeof PhoneNumber.Type

/** Times in epoch milliseconds. */
export interface OrderRow {
  readonly id: string
  readonly tenantId: string
  readonly status: OrderStatus
  readonly countryCode: string
  readonly numberType: NumberType
  readonly phoneNumbers: ReadonlyArray<OrderedNumberView>
  readonly upfrontCostCents: number
  readonly monthlyCostCents: number
  readonly refundedCents: number
  readonly routeId: string | null
  readonly customerReference: string | null
  readonly createdAt: number
  readonly completedAt: number | null
}

export interface NumberRow {
  readonly id: string
  readonly phoneNumber: string
  readonly countryCode: string
  readonly numberType: NumberType
  readonly status: NumberStatus
  readonly name: string | null
  readonly routeId: string | null
  readonly features: ReadonlyArray<string>
  readonly customerReference: string | null
  readonly tags: ReadonlyArray<string>
  readonly orderId: string | null
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
