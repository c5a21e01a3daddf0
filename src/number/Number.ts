import { Cache, Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../account/Account.ts"
import { Entropy } from "../actor/Entropy.ts"
import * as Audit from "../audit/Audit.ts"
import type { NumberId, OrderId, TenantId } from "../domain/Id.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { Rendered, Slot } from "../idempotency/Slot.ts"
import { Jobs } from "../job/Jobs.ts"
import { empty, Journal } from "../store/Journal.ts"
import type * as Listing from "../store/Listing.ts"
import * as RowCache from "../store/RowCache.ts"
import * as Inventory from "./Inventory.ts"
import * as NumberOrder from "./NumberOrder.ts"
import * as NumberRepo from "./NumberRepo.ts"
import * as NumberView from "./NumberView.ts"
import * as OrderActivation from "./OrderActivation.ts"

export type { InventoryEntry, Search } from "./Inventory.ts"
export type { OrderRequest } from "./NumberOrder.ts"
export type { NumberFilters, Owner } from "./NumberRepo.ts"

interface Released {
  readonly tenantId: TenantId
  readonly number: NumberView.PhoneNumberView
}

const noOwner = ApiError.of("number_not_found", "nobody has this number")

/** Owners of dialled numbers kept in memory, and numbers known to have none. */
const remembered = 50_000

/**
 * Phone numbers, guide/numbers.md, over the operator's own inventory: searched, ordered, listed, and found when they
 * are dialled (from memory; a change is seen at once).
 */
export class Numbers extends Context.Service<
  Numbers,
  {
    /** At most `limit`, by number; 422 `no_pricing_tier_configured`. */
    readonly search: (
      search: Inventory.Search
    ) => Effect.Effect<ReadonlyArray<NumberView.AvailableNumberView>, ApiError>
    /**
     * 201, `pending`; the numbers become active right after. In this order: 422 a number twice, 404 route, 422 no price,
     * 400 `order_invalid`, 402 `insufficient_balance`.
     */
    readonly order: (
      caller: Audit.Caller,
      request: NumberOrder.OrderRequest,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly orders: (
      tenantId: TenantId,
      filters: { readonly status?: NumberView.OrderStatus },
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<NumberView.NumberOrderView>>
    readonly findOrder: (tenantId: TenantId, id: OrderId) => Effect.Effect<NumberView.NumberOrderView, ApiError>
    readonly list: (
      tenantId: TenantId,
      filters: NumberRepo.NumberFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<NumberView.PhoneNumberView>>
    readonly find: (tenantId: TenantId, id: NumberId) => Effect.Effect<NumberView.PhoneNumberView, ApiError>
    /** An active number of this tenant. */
    readonly owned: (tenantId: TenantId, phoneNumber: string) => Effect.Effect<boolean>
    readonly byDialled: (phoneNumber: string) => Effect.Effect<NumberRepo.Owner | null>
    /**
     * Gives an active number back to the inventory, by the operator: it rings nobody any more, and whoever orders it has
     * it. Its live calls go on. 404 for a number that nobody has, 409 while it is pending.
     */
    readonly release: (phoneNumber: string, reason: string | null) => Effect.Effect<Released, ApiError>
    /** Adds to the inventory, or changes what is there: all entries, or none and a 400 that names the number. */
    readonly importInventory: (entries: ReadonlyArray<Inventory.InventoryEntry>) => Effect.Effect<void, ApiError>
  }
>()("trunkline/number/Numbers") {
  static readonly layer = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const entropy = yield* Entropy
      const jobs = yield* Jobs
      const accounts = yield* Accounts
      const inventory = yield* Inventory.make
      const repo = yield* NumberRepo.make

      if (yield* inventory.isEmpty) yield* inventory.put(Inventory.starter)

      const owners = yield* RowCache.make({ capacity: remembered, lookup: repo.owner })
      const forget = (phoneNumbers: ReadonlyArray<string>) =>
        Effect.forEach(phoneNumbers, (phone) => Cache.invalidate(owners, phone), { discard: true })

      jobs.declare(
        yield* OrderActivation.make({
          // Told even without a refund: the debit's own answer may have been lost, and then nobody told the account of
          // it.
          onActivated: ({ phoneNumbers, tenantId }) =>
            Effect.andThen(forget(phoneNumbers), accounts.moneyMoved(tenantId))
        })
      )

      const release = Effect.fn("Numbers.release")(function* (phoneNumber: string, reason: string | null) {
        const owner = yield* repo.owner(phoneNumber)
        if (owner === null) return yield* noOwner
        if (owner.status !== "active")
          return yield* ApiError.of("number_not_yet_active", `the number is ${owner.status}`)
        const at = yield* Clock.currentTimeMillis
        const seed = entropy.hex(16)
        const released = yield* Effect.gen(function* () {
          const row = yield* repo.release(phoneNumber, at)
          if (row === null) return null
          const line = Audit.line({
            tenantId: row.tenantId,
            at,
            seed,
            actor: Audit.operator,
            action: "number.released",
            resourceType: "number",
            resourceId: row.id,
            changes: [
              { field: "status", from: "active", to: "released" },
              ...(reason === null ? [] : [{ field: "reason", from: null, to: reason }])
            ]
          })
          yield* journal.commitWithin({ ...empty, audit: [line] })
          return { tenantId: row.tenantId, number: NumberView.number(row) }
        }).pipe(
          sql.withTransaction,
          Effect.orDie,
          // Also when the answer of the commit was lost: an owner that is forgotten in vain only costs another look.
          Effect.ensuring(forget([phoneNumber]))
        )
        return released ?? (yield* noOwner)
      }, Effect.uninterruptible)

      const place = yield* NumberOrder.make
      const order = Effect.fn("Numbers.order")(function* (
        caller: Audit.Caller,
        request: NumberOrder.OrderRequest,
        slot: Slot | null
      ) {
        const { orderId, rendered } = yield* place(caller, request, slot)
        yield* forget(request.phoneNumbers)
        // The answer says `pending`, as it was committed; a caller who uses the number next finds it active.
        yield* jobs.runNow(OrderActivation.kind, orderId)
        return rendered
      }, Effect.uninterruptible)

      return Numbers.of({
        search: Effect.fn("Numbers.search")(function* (search) {
          if (!(yield* inventory.hasTier(search.countryCode, search.numberType)))
            return yield* NumberOrder.noTier(search.countryCode, search.numberType)
          return yield* inventory.search(search)
        }),
        order,
        orders: repo.listOrders,
        findOrder: Effect.fn("Numbers.findOrder")(function* (tenantId, id) {
          const row = yield* repo.findOrder(tenantId, id)
          return row === null ? yield* ApiError.of("not_found", "no such number order") : NumberView.order(row)
        }),
        list: repo.list,
        find: Effect.fn("Numbers.find")(function* (tenantId, id) {
          const row = yield* repo.find(tenantId, id)
          return row === null ? yield* ApiError.of("number_not_found", "no such number") : NumberView.number(row)
        }),
        owned: (tenantId, phoneNumber) =>
          Effect.map(
            Cache.get(owners, phoneNumber),
            (owner) => owner !== null && owner.tenantId === tenantId && owner.status === "active"
          ),
        release,
        byDialled: (phoneNumber) => Cache.get(owners, phoneNumber),
        importInventory: Effect.fn("Numbers.importInventory")(function* (entries) {
          const fault = Inventory.fault(entries)
          if (fault !== null) return yield* ApiError.of("invalid_request", fault)
          yield* inventory.put(entries)
        })
      })
    })
  )
}
