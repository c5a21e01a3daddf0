import { Schema } from "effect"
import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"
import type { EmittedOf, Family } from "./PublicEvent.ts"

const OrderedNumber = Wire.struct({
  id: Field.numberIdOrNull,
  phoneNumber: Field.text("E.164.", "+12025550150"),
  status: Field.oneOf("What became of it.", ["active", "failed"])
})

/** A partly filled order sends both events, each naming its numbers. */
const ofOrder = {
  orderId: Field.orderId,
  status: Field.oneOf("Of the whole order.", ["completed", "partial", "failed"]),
  countryCode: Field.text("ISO 3166-1 alpha-2.", "US"),
  numberType: Field.oneOf("Of the numbers.", ["local", "toll_free", "mobile", "national"]),
  phoneNumbers: Schema.Array(OrderedNumber).pipe(
    Schema.annotateEncoded({
      description: "The numbers that this event is about.",
      examples: [[{ id: Field.opaque("did"), phone_number: "+12025550150", status: "active" }]]
    })
  ),
  totalCents: Field.cents("What these numbers cost.")
}

const failureReason = Field.oneOf("Why they could not be had.", [
  "not_available",
  "carrier_rejected",
  "requirements_missing",
  "timeout"
])

export const rows = {
  "number_order.completed": {
    when: "Numbers of an order are active.",
    data: Wire.struct({ ...ofOrder, completedAt: Field.time("When they became active.") })
  },
  "number_order.failed": {
    when: "Numbers of an order could not be had; what they cost is refunded.",
    data: Wire.struct({
      ...ofOrder,
      failureReason: failureReason,
      refundedCents: Field.cents("What was refunded."),
      failedAt: Field.time("When they failed.")
    })
  }
} as const satisfies Family<"number_order">

export type NumberOrderEvent = EmittedOf<typeof rows>
