import { Cache, Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../money/account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { AddressId, NumberId, OrderId, TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import type { Asked } from "../../ports/lookup/Lookup.ts"
import * as RowCache from "../../runtime/store/list/RowCache.ts"
import * as EmergencyAddresses from "./emergency/EmergencyAddresses.ts"
import * as EmergencyAddressRepo from "./emergency/EmergencyAddressRepo.ts"
import type { EmergencyAddressView } from "./emergency/EmergencyAddressView.ts"
import * as LookingUp from "./LookingUp.ts"
import type { NumberLookupView } from "./LookupView.ts"
import * as Inventory from "./order/Inventory.ts"
import * as NumberChange from "./NumberChange.ts"
import * as NumberConfiguration from "./NumberConfiguration.ts"
import * as NumberOrder from "./order/NumberOrder.ts"
import * as NumberRepo from "./NumberRepo.ts"
import { NumberSupply } from "./order/NumberSupply.ts"
import * as NumberView from "./NumberView.ts"
import * as OrderActivation from "./order/OrderActivation.ts"
import * as PortedNumbers from "./PortedNumbers.ts"
import * as RenewalJobs from "./renewal/RenewalJobs.ts"
import * as Releasing from "./Releasing.ts"

export type { InventoryEntry, Search } from "./order/Inventory.ts"
export type { OrderRequest } from "./order/NumberOrder.ts"
export type { NumberFilters, Owner } from "./NumberRepo.ts"
export type { NumberPatch } from "./NumberConfiguration.ts"
export type { OfTenant } from "./Releasing.ts"
export type { NewAddress } from "./emergency/EmergencyAddresses.ts"
export { NumberLookup } from "./LookupView.ts"
export * as NumberView from "./NumberView.ts"
export { EmergencyAddress } from "./emergency/EmergencyAddressView.ts"
export * as Inventory from "./order/Inventory.ts"

/** Owners of dialled numbers kept in memory, and numbers known to have none. */
const remembered = 50_000

/** Numbers of an import that its audit line names; their count stands there always. */
const shownNumbers = 100

/**
 * Phone numbers, guide/numbers.md, over the operator's own inventory: searched, ordered, listed, and found when they
 * are dialled (from memory; a change is seen at once).
 */
export class Numbers extends Context.Service<
  Numbers,
  {
    /** At most `limit`, by number, of those that this tenant may order; 422 `no_pricing_tier_configured`. */
    readonly search: (
      tenantId: TenantId,
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
    /** 200 with the number; the errors of guide/numbers.md#configuring. */
    readonly update: (
      caller: Audit.Caller,
      id: NumberId,
      patch: NumberConfiguration.NumberPatch,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 204, also where it was released before; 409 `release_not_permitted`. Its live calls go on. */
    readonly release: (caller: Audit.Caller, id: NumberId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /** What a call from this number has to know of it; null: it is no number of this tenant that may call now. */
    readonly callingFrom: (tenantId: TenantId, phoneNumber: string) => Effect.Effect<NumberRepo.Owner | null>
    readonly byDialled: (phoneNumber: string) => Effect.Effect<NumberRepo.Owner | null>
    /** 201 with an emergency address; 409 `conflict` for a tenant that has as many as it may. */
    readonly addAddress: (
      caller: Audit.Caller,
      fields: EmergencyAddresses.NewAddress,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly addresses: (
      tenantId: TenantId,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<EmergencyAddressView>>
    readonly findAddress: (tenantId: TenantId, id: AddressId) => Effect.Effect<EmergencyAddressView, ApiError>
    /** 204; 409 `conflict` while a number anchors it. */
    readonly removeAddress: (
      caller: Audit.Caller,
      id: AddressId,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /**
     * The operator takes a number from its tenant, who may order it again where it `isHeld`. Its live calls go on. Like
     * all that the operator does with a number: 404 for one that nobody has, 409 while it is pending, and an audit line
     * of its tenant.
     */
    readonly take: (
      phoneNumber: string,
      reason: string | null,
      isHeld: boolean
    ) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** Another carrier has it: it leaves the inventory, too. */
    readonly portOut: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    readonly suspend: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    readonly resume: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** From the next month on. */
    readonly setMonthlyCost: (phoneNumber: string, cents: number) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** Whether its address is registered with the carrier; 409 `conflict` without an address. */
    readonly setEmergencyEnabled: (
      phoneNumber: string,
      isEnabled: boolean
    ) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** Whether the operator has the number already, owned or not. */
    readonly isInInventory: (phoneNumber: string) => Effect.Effect<boolean>
    /** What a number that comes from another carrier costs; null: the operator has no price for such. */
    readonly portingPrice: PortedNumbers.PortedNumbers["price"]
    /** Inside the transaction of its porting order. */
    readonly claimPortedWithin: PortedNumbers.PortedNumbers["claimWithin"]
    readonly settlePortedWithin: PortedNumbers.PortedNumbers["settleWithin"]
    /** Behind a transaction that changed owners: who has these numbers is looked at again. */
    readonly ownersChanged: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<void>
    /** 402 `insufficient_balance` where it costs more than there is; 502 where the source cannot be asked. */
    readonly lookup: (
      caller: Audit.Caller,
      phoneNumber: string,
      asked: Asked
    ) => Effect.Effect<NumberLookupView, ApiError>
    /** Adds to the inventory, or changes what is there: all entries, or none and a 400 that names the number. */
    readonly importInventory: (entries: ReadonlyArray<Inventory.InventoryEntry>) => Effect.Effect<void, ApiError>
    /** Takes numbers out of the inventory, and gives those that were there; whoever owns one keeps it. */
    readonly withdrawInventory: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  }
>()("trunkline/number/Numbers") {
  /** Over whoever gives numbers. */
  static readonly over = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const journal = yield* Journal
      const entropy = yield* Entropy
      const jobs = yield* Jobs
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
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

      const ported = yield* PortedNumbers.make(repo)
      for (const job of yield* RenewalJobs.make({ forget })) jobs.declare(job)

      const change = yield* NumberChange.make({ forget: (phoneNumber) => forget([phoneNumber]) })
      const releasing = Releasing.make(change, inventory)
      const addressRows = yield* EmergencyAddressRepo.make
      const addresses = yield* EmergencyAddresses.make(addressRows)
      const update = yield* NumberConfiguration.make(change, addressRows)

      const withinOne = <A>(effect: Effect.Effect<A>) => Effect.orDie(sql.withTransaction(effect))

      /** With its line: of the installation, as the inventory is no tenant's. */
      const inventoryChanged = (action: string, change: Parameters<typeof Audit.line>[0]["changes"]) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) =>
          journal.commitWithin({
            ...empty,
            audit: [
              Audit.line({
                tenantId: null,
                at,
                seed: entropy.hex(16),
                actor: Audit.operator,
                action,
                resourceType: "inventory",
                resourceId: "inventory",
                changes: change ?? []
              })
            ]
          })
        )

      const withdrawInventory = Effect.fn("Numbers.withdrawInventory")(function* (phoneNumbers: ReadonlyArray<string>) {
        const gone = yield* inventory.remove(phoneNumbers)
        if (gone.length > 0)
          yield* inventoryChanged("inventory.withdrawn", [{ field: "phone_numbers", from: gone, to: null }])
        return gone
      }, withinOne)

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
        search: Effect.fn("Numbers.search")(function* (tenantId, search) {
          if (!(yield* inventory.hasTier(search.countryCode, search.numberType)))
            return yield* NumberOrder.noTier(search.countryCode, search.numberType)
          return yield* inventory.search({ tenantId, at: yield* Clock.currentTimeMillis }, search)
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
        update,
        ...releasing,
        callingFrom: (tenantId, phoneNumber) =>
          Effect.map(Cache.get(owners, phoneNumber), (owner) =>
            owner !== null && owner.tenantId === tenantId && owner.status === "active" && !owner.isSuspended
              ? owner
              : null
          ),
        addAddress: addresses.create,
        addresses: addresses.list,
        findAddress: addresses.find,
        removeAddress: addresses.remove,
        isInInventory: ported.isOurs,
        portingPrice: ported.price,
        claimPortedWithin: ported.claimWithin,
        settlePortedWithin: ported.settleWithin,
        ownersChanged: forget,
        lookup: yield* LookingUp.make,
        withdrawInventory,
        byDialled: (phoneNumber) => Cache.get(owners, phoneNumber),
        importInventory: Effect.fn("Numbers.importInventory")(function* (entries) {
          const fault = Inventory.fault(entries)
          if (fault !== null) return yield* ApiError.of("invalid_request", fault)
          yield* Effect.andThen(
            inventory.put(entries),
            inventoryChanged("inventory.imported", [
              { field: "count", from: null, to: entries.length },
              { field: "phone_numbers", from: null, to: entries.slice(0, shownNumbers).map((each) => each.phoneNumber) }
            ])
          ).pipe(withinOne)
        })
      })
    })
  )

  /** Over the operator's own inventory. */
  static readonly layer = Numbers.over.pipe(Layer.provide(NumberSupply.inventory))
}
