import { Context, Effect, Layer, Schema } from "effect"
import type { OrderId, TenantId } from "../../../domain/Id.ts"
import * as Inventory from "./Inventory.ts"

export const failureReasons = ["not_available", "carrier_rejected", "requirements_missing", "timeout"] as const
export type FailureReason = (typeof failureReasons)[number]

/** What became of a number that was ordered: `active`, or why it cannot be had. */
export type Outcome = "active" | FailureReason

/** Whoever gives numbers could not be asked; asked again it may answer. */
export class SupplyError extends Schema.TaggedError<SupplyError>()("SupplyError", { detail: Schema.String }) {
  override get message() {
    return `numbers not activated: ${this.detail}`
  }
}

/**
 * Who gives the numbers that were ordered: the operator, out of the inventory, or a carrier behind it.
 *
 * It is asked again until it has said of each number what became of it, also after a crash; so the order is its key, and
 * whoever is asked twice gives once. What it has not decided after some hours has failed (`timeout`), and it is asked no
 * more.
 */
export class NumberSupply extends Context.Service<
  NumberSupply,
  {
    /** What is decided so far, by number. */
    readonly activate: (order: {
      readonly id: OrderId
      readonly tenantId: TenantId
      readonly phoneNumbers: ReadonlyArray<string>
    }) => Effect.Effect<ReadonlyMap<string, Outcome>, SupplyError>
  }
>()("trunkline/number/NumberSupply") {
  /** The inventory decides at once: what the operator has withdrawn since the order is not available. */
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
