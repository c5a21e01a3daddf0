import { Cache, Clock, Context, Effect, Layer } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import type { AddressId, NumberId, OrderId, TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Sql from "../../runtime/store/Sql.ts"
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

export type { OfTenant } from "./Releasing.ts"
export { NumberLookup } from "./LookupView.ts"
export * as NumberView from "./NumberView.ts"
export { EmergencyAddress } from "./emergency/EmergencyAddressView.ts"
export * as Inventory from "./order/Inventory.ts"

/** The most dialled numbers in memory, with their owners or known to have none. */
const remembered = 50_000

/** The most numbers that the audit line of an import names; it always has their count. */
const shownNumbers = 100

/**
 * Phone numbers, guide/numbers.md, from the operator's own inventory: search, orders, lists, and the owner of a dialled
 * number (from memory; a change is seen at once).
 */
export class Numbers extends Context.Service<
  Numbers,
  {
    /** At most `limit` numbers that this tenant may order, sorted by number; 422 `no_pricing_tier_configured`. */
    readonly search: (
      tenantId: TenantId,
      search: Inventory.Search
    ) => Effect.Effect<ReadonlyArray<NumberView.AvailableNumberView>, ApiError>
    /**
     * 201, `pending`; the numbers become active right after. The checks, in order: 422 a number twice, 404 route, 422
     * no price, 400 `order_invalid`, 402 `insufficient_balance`.
     */
    readonly order: Audit.Request<[request: NumberOrder.OrderRequest]>
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
    readonly update: Audit.Request<[id: NumberId, patch: NumberConfiguration.NumberPatch]>
    /** 204, even if it was released before; 409 `release_not_permitted`. Its live calls continue. */
    readonly release: Audit.Request<[id: NumberId]>
    /** The facts that a call from this number needs; null when it is no number of this tenant that may call now. */
    readonly callingFrom: (tenantId: TenantId, phoneNumber: string) => Effect.Effect<NumberRepo.Owner | null>
    readonly byDialled: (phoneNumber: string) => Effect.Effect<NumberRepo.Owner | null>
    /** 201 with an emergency address; 409 `conflict` when the tenant has the most that are allowed. */
    readonly addAddress: Audit.Request<[fields: EmergencyAddresses.NewAddress]>
    readonly addresses: (
      tenantId: TenantId,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<EmergencyAddressView>>
    readonly findAddress: (tenantId: TenantId, id: AddressId) => Effect.Effect<EmergencyAddressView, ApiError>
    /** 204; 409 `conflict` while the address anchors a number. */
    readonly removeAddress: Audit.Request<[id: AddressId]>
    /**
     * The operator takes a number from its tenant, who may order it again if it `isHeld`. Its live calls continue. Like
     * every operation of the operator on a number: 404 for one without an owner, 409 while it is pending, and an audit
     * line of its tenant.
     */
    readonly take: (
      phoneNumber: string,
      reason: string | null,
      isHeld: boolean
    ) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** The number has moved to another carrier, so it leaves the inventory, too. */
    readonly portOut: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    readonly suspend: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    readonly resume: (phoneNumber: string, reason: string | null) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** The new price applies from the next month on. */
    readonly setMonthlyCost: (phoneNumber: string, cents: number) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** Sets whether the number's address is registered with the carrier; 409 `conflict` without an address. */
    readonly setEmergencyEnabled: (
      phoneNumber: string,
      isEnabled: boolean
    ) => Effect.Effect<Releasing.OfTenant, ApiError>
    /** Whether the operator has the number already, owned by a tenant or not. */
    readonly isInInventory: (phoneNumber: string) => Effect.Effect<boolean>
    /** The price of a number that comes from another carrier; null when the operator has no price for it. */
    readonly portingPrice: PortedNumbers.PortedNumbers["price"]
    /** Claims the numbers inside the transaction of their porting order. */
    readonly claimPortedWithin: PortedNumbers.PortedNumbers["claimWithin"]
    readonly settlePortedWithin: PortedNumbers.PortedNumbers["settleWithin"]
    /** Called after a transaction that changed owners, so that these numbers' owners are read again. */
    readonly ownersChanged: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<void>
    /** 402 `insufficient_balance` when it costs more than the available money; 502 when the source cannot be asked. */
    readonly lookup: (
      caller: Audit.Caller,
      phoneNumber: string,
      asked: Asked
    ) => Effect.Effect<NumberLookupView, ApiError>
    /** Adds to the inventory, or changes its entries: all of them, or none and a 400 that names the number. */
    readonly importInventory: (entries: ReadonlyArray<Inventory.InventoryEntry>) => Effect.Effect<void, ApiError>
    /** Takes numbers out of the inventory, and returns those that were in it. An owner keeps its number. */
    readonly withdrawInventory: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  }
>()("trunkline/number/Numbers") {
  /** Builds on any `NumberSupply`. */
  static readonly over = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const journal = yield* Journal
      const entropy = yield* Entropy
      const jobs = yield* Jobs
      const accounts = yield* Accounts
      const { transaction } = yield* Sql.make
      const inventory = yield* Inventory.make
      const repo = yield* NumberRepo.make

      if (yield* inventory.isEmpty) yield* inventory.put(Inventory.starter)

      const owners = yield* RowCache.make({ capacity: remembered, lookup: repo.owner })
      const forget = (phoneNumbers: ReadonlyArray<string>) =>
        Effect.forEach(phoneNumbers, (phone) => Cache.invalidate(owners, phone), { discard: true })

      jobs.declare(
        yield* OrderActivation.make({
          // The account is notified even without a refund, because the debit's answer may have been lost before it was.
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

      const withinOne = <A>(effect: Effect.Effect<A>) => transaction(effect)

      /** Writes a line of the installation, because the inventory belongs to no tenant. */
      const inventoryChanged = Effect.fnUntraced(function* (
        action: string,
        change: Parameters<typeof Audit.line>[0]["changes"]
      ) {
        const line = Audit.line({
          tenantId: null,
          at: yield* Clock.currentTimeMillis,
          seed: entropy.hex(16),
          actor: yield* Audit.operator,
          action,
          resourceType: "inventory",
          resourceId: "inventory",
          changes: change ?? []
        })
        return yield* journal.commitWithin({ ...empty, audit: [line] })
      })

      const place = yield* NumberOrder.make({ forget })

      return Numbers.of({
        search: Effect.fn("Numbers.search")(function* (tenantId, search) {
          if (!(yield* inventory.hasTier(search.countryCode, search.numberType)))
            return yield* NumberOrder.noTier(search.countryCode, search.numberType)
          return yield* inventory.search({ tenantId, at: yield* Clock.currentTimeMillis }, search)
        }),
        order: Effect.fn("Numbers.order")(function* (caller, request, slot) {
          const { orderId, rendered } = yield* place(caller, request, slot)
          yield* forget(request.phoneNumbers)
          // The answer says `pending`, as it was committed, but a caller that uses the number next finds it active.
          yield* jobs.runNow(OrderActivation.kind, orderId)
          return rendered
        }, Effect.uninterruptible),
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
        withdrawInventory: Effect.fn("Numbers.withdrawInventory")(function* (phoneNumbers) {
          const gone = yield* inventory.remove(phoneNumbers)
          if (gone.length > 0)
            yield* inventoryChanged("inventory.withdrawn", [{ field: "phone_numbers", from: gone, to: null }])
          return gone
        }, withinOne),
        byDialled: (phoneNumber) => Cache.get(owners, phoneNumber),
        importInventory: Effect.fn("Numbers.importInventory")(function* (entries) {
          const fault = yield* TimeSlices.run(() => Inventory.fault(entries))
          if (fault !== null) return yield* ApiError.of("invalid_request", fault)
          const prices = yield* TimeSlices.run(() => pricesOf(entries))
          yield* Effect.andThen(
            inventory.put(entries),
            inventoryChanged("inventory.imported", [
              { field: "count", from: null, to: entries.length },
              {
                field: "phone_numbers",
                from: null,
                to: entries.slice(0, shownNumbers).map((each) => each.phoneNumber)
              },
              { field: "prices", from: null, to: prices.slice(0, shownNumbers) }
            ])
          ).pipe(withinOne)
        })
      })
    })
  )

  /** Supplies numbers from the operator's own inventory. */
  static readonly layer = Numbers.over.pipe(Layer.provide(NumberSupply.inventory))
}

/** The prices in an import, each with how many of its numbers have it. */
function* pricesOf(entries: ReadonlyArray<Inventory.InventoryEntry>) {
  const prices = new Map<string, { upfront_cost_cents: number; monthly_cost_cents: number; numbers: number }>()
  for (const { monthlyCostCents, upfrontCostCents } of entries) {
    const key = `${upfrontCostCents} ${monthlyCostCents}`
    const price = prices.get(key) ?? {
      upfront_cost_cents: upfrontCostCents,
      monthly_cost_cents: monthlyCostCents,
      numbers: 0
    }
    price.numbers++
    prices.set(key, price)
    yield
  }
  return [...prices.values()]
}
