import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as NumberLife from "./NumberLife.ts"

export const numberTypes = ["local", "toll_free", "mobile", "national"] as const
export const NumberType = Schema.Literals(numberTypes)
export type NumberType = (typeof numberTypes)[number]

export const NumberStatus = Schema.Literals(["pending", "active", "failed", "port_pending", "released", "ported_out"])
export type NumberStatus = typeof NumberStatus.Type

export const OrderStatus = Schema.Literals(["pending", "completed", "partial", "failed"])
export type OrderStatus = typeof OrderStatus.Type

/** These fields are shared by available numbers, orders and owned numbers. */
const phoneNumber = Field.text("E.164.", "+12025550150")
const countryCode = Field.text("ISO 3166-1 alpha-2.", "US")
const numberType = NumberType.annotate({ description: "What kind of number.", examples: ["local"] })
const features = Field.texts("What it can be used for.", ["voice"])
const upfront = Field.cents("Once, with the order.")
const monthly = Field.cents("Each month.")
const routeId = Field.idOrNull("route", "The connection of its calls; null: the default one.")
const customerReference = Field.textOrNull("As given with the order.", "order 7")

/** A number that can be ordered. Prices are this service's, not the carrier's. */
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

/** The order's row stores it in wire form. */
const OrderedNumber = Schema.Struct({
  id: Field.idOrNull("did", "The number; null when there is none."),
  phone_number: phoneNumber,
  status: Field.oneOf("What became of it.", ["pending", "active", "failed"]),
  failure_reason: Field.textOrNull("Why it failed; null when it did not.", null)
})
export type OrderedNumberView = typeof OrderedNumber.Type

export const NumberOrder = Wire.struct({
  id: Field.id("order", "The order."),
  status: OrderStatus.annotate({ description: "`partial`: some numbers failed.", examples: ["pending"] }),
  countryCode: countryCode,
  numberType: numberType,
  phoneNumbers: Schema.Array(OrderedNumber).annotate({ description: "Each number of the order." }),
  upfrontCostCents: Field.cents("Once, for all of its numbers."),
  monthlyCostCents: Field.cents("Each month, for all of its numbers."),
  debitedCents: Field.cents("Debited with the order: `upfront_cost_cents`, and the first month of its numbers."),
  refundedCents: Field.signedCents("Given back for numbers that failed.", 0),
  routeId: routeId,
  customerReference: customerReference,
  createdAt: Field.time("When it was placed."),
  completedAt: Field.timeOrNull("When the last of its numbers was settled; null while `pending`.")
}).pipe(Schema.annotateEncoded({ identifier: "NumberOrder" }))
export type NumberOrderView = typeof NumberOrder.Encoded

export const recordingFormats = ["mp3", "wav"] as const
export const recordingChannels = ["single", "dual"] as const

const inboundRecording = Wire.struct({
  enabled: Field.flag("Whether inbound calls are recorded, from their answer on.", false),
  format: Field.oneOf("Of the recordings.", recordingFormats),
  channels: Field.oneOf("Of the recordings.", recordingChannels)
}).pipe(Schema.annotateEncoded({ description: "How inbound calls are recorded." }))

/** A tenant's number, guide/numbers.md#owned-numbers. */
export const PhoneNumber = Wire.struct({
  id: Field.id("did", "The number."),
  phoneNumber: phoneNumber,
  countryCode: countryCode,
  numberType: numberType,
  status: NumberStatus.annotate({
    description: "Only an `active` number places and takes calls.",
    examples: ["active"]
  }),
  name: Field.textOrNull("What the tenant calls it.", "Front desk"),
  routeId: routeId,
  features,
  messagingEnabled: Field.flag("There is no messaging here: always false.", false),
  callerIdName: Field.textOrNull("The name that calls from it show, where the trunk carries it.", "ACME INC"),
  inboundRecording: inboundRecording,
  emergencyEnabled: Field.flag("Whether the operator has registered the address with its carrier.", false),
  emergencyAddressId: Field.idOrNull("addr", "The emergency address that it anchors; null: none."),
  customerReference: customerReference,
  tags: Field.texts("The tenant's own words.", ["sales"]),
  source: Field.oneOf("Where it came from.", ["order", "port"]),
  orderId: Field.idOrNull("order", "The order that it came with."),
  portingOrderId: Field.idOrNull("port", "The porting order that it came with."),
  upfrontCostCents: upfront,
  monthlyCostCents: monthly,
  nextRenewalAt: Field.timeOrNull(
    "When the next month is due; in the past while a month is not paid.",
    "2026-02-01T00:00:00.000Z"
  ),
  suspendedAt: Field.timeOrNull("Since when it neither takes nor places calls; null: it does."),
  activatedAt: Field.timeOrNull("Null while `pending`.", "2026-01-01T00:00:00.000Z"),
  releasedAt: Field.timeOrNull("When it was released or ported out; null while the workspace has it."),
  createdAt: Field.time("When it was ordered."),
  updatedAt: Field.time("When one of these fields changed last.")
}).pipe(Schema.annotateEncoded({ identifier: "PhoneNumber" }))
export type PhoneNumberView = typeof PhoneNumber.Encoded
export type InboundRecording = typeof inboundRecording.Type

/** Times are epoch milliseconds. */
export type OrderRow = typeof NumberOrder.Type & { readonly tenantId: TenantId }

export type NumberRow = NumberLife.Life &
  Omit<typeof PhoneNumber.Type, "messagingEnabled" | "suspendedAt"> & {
    /** The upfront cost and the first month, in cents, at the prices of the day of its order. */
    readonly debitedCents: number
  }

export const order = Wire.encoder(NumberOrder)

const encode = Wire.encoder(PhoneNumber)

export const number = (row: NumberRow): PhoneNumberView =>
  encode({ ...row, messagingEnabled: false, suspendedAt: NumberLife.suspendedAt(row) })
