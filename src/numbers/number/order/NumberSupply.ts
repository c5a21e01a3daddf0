import { Context, Effect, Layer, Schema } from "effect"
import type { OrderId, TenantId } from "../../../domain/Id.ts"
import * as Inventory from "./Inventory.ts"

export const failureReasons = ["not_available", "carrier_rejected", "requirements_missing", "timeout"] as const
type FailureReason = (typeof failureReasons)[number]

/** The outcome for an ordered number: `active`, or why it is not available. */
export type Outcome = "active" | FailureReason

/** The supplier could not be asked. Another request may succeed. */
export class SupplyError extends Schema.TaggedError<SupplyError>()("SupplyError", { detail: Schema.String }) {
  override get message() {
    return `numbers not activated: ${this.detail}`
  }
}

/**
 * The supplier of ordered numbers: the operator with its inventory, or a carrier.
 *
 * It is asked again, even after a crash, until it has decided about each number. So the order is the key, and a
 * repeated request supplies a number once. A number that is undecided after some hours has failed (`timeout`), and the
 * supplier is asked no more.
 */
export class NumberSupply extends Context.Service<
  NumberSupply,
  {
    /** The decisions so far, by number. */
    readonly activate: (order: {
      readonly id: OrderId
      readonly tenantId: TenantId
      readonly phoneNumbers: ReadonlyArray<string>
    }) => Effect.Effect<ReadonlyMap<string, Outcome>, SupplyError>
  }
>()("trunkline/number/NumberSupply") {
  /** The inventory decides at once: a number that the operator withdrew after the order is not available. */
  static readonly inventory = Layer.effect(
    NumberSupply,
    Effect.map(Inventory.make, (inventory) => ({
      activate: ({ phoneNumbers }) =>
        Effect.map(
          inventory.present(phoneNumbers),
          (present) => new Map(phoneNumbers.map((phone) => [phone, present.has(phone) ? "active" : "not_available"]))
        )
    }))
  )
}
