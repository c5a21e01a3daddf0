import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"
import type { Family } from "./PublicEvent.ts"

export const rows = {
  "webhook.test": {
    when: "A test of a subscription was asked for. It goes to that subscription alone, whatever types that lists.",
    data: Wire.struct({ subscriptionId: Field.id("sub", "The subscription that is tested.") })
  }
} as const satisfies Family<"webhook">
