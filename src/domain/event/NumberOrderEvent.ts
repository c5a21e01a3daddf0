import { Schema } from "effect"
import * as Field from "../Field.ts"
import type { EmittedOf, Family } from "./PublicEvent.ts"

const OrderedNumber = Schema.Struct({
  id: Field.numberIdOrNull,
  phone_number: Field.text("E.164.", "+12025550150"),
  status: Field.oneOf("What became of it.", ["active", "failed"])
})

/** A partly filled order sends both events, each naming its numbers. */
const ofOrder = {
  order_id: Field.orderId,
  status: Field.oneOf("Of the whole order.", ["completed", "partial", "failed"]),
  country_code: Field.text("ISO 3166-1 alpha-2.", "US"),
  number_type: Field.oneOf("Of the numbers.", ["local", "toll_free", "mobile", "national"]),
  phone_numbers: Schema.Array(OrderedNumber).annotate({
    description: "The numbers that this event is about.",
    examples: [[{ id: Field.opaque("did"), phone_number: "+12025550150", status: "active" }]]
  }),
  total_cents: Field.cents("What these numbers cost.")
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
    emitted: true,
    data: Schema.Struct({ ...ofOrder, completed_at: Field.moment("When they became active.") })
  },
  "number_order.failed": {
    when: "Numbers of an order could not be had; what they cost is refunded.",
    emitted: true,
    data: Schema.Struct({
      ...ofOrder,
      failure_reason: failureReason,
      refunded_cents: Field.cents("What was refunded."),
      failed_at: Field.moment("When they failed.")
    })
  }
} as const satisfies Family<"number_order">

export type NumberOrderEvent = EmittedOf<typeof rows>
