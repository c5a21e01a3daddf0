import { Clock, Effect } from "effect"
import { Accounts, TestMoneyRefused } from "../../../money/account/Account.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { Trunks } from "../../trunk/Trunk.ts"
import * as Id from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { receipt, type Rendered, type Slot } from "../../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal, type MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import * as Inventory from "./Inventory.ts"
import * as NumberRepo from "../NumberRepo.ts"
import * as NumberView from "../NumberView.ts"
import * as RenewalMonth from "../renewal/RenewalMonth.ts"
import * as OrderActivation from "./OrderActivation.ts"

export interface OrderRequest {
  /** E.164, 1 to 50. */
  readonly phoneNumbers: ReadonlyArray<string>
  readonly countryCode: string
  readonly numberType: NumberView.NumberType
  readonly routeId: Id.RouteId | null
  readonly customerReference: string | null
}

/** Without a configured price, nothing can be searched or ordered. */
export const noTier = (countryCode: string, numberType: string) =>
  ApiError.of(
    "no_pricing_tier_configured",
    `no price is configured for ${numberType} numbers in ${countryCode}`,
    "number_type"
  )

const notReservable = (phoneNumber: string) =>
  ApiError.of(
    "order_invalid",
    `${phoneNumber} cannot be ordered: it is not among the available numbers`,
    "phone_numbers"
  )

/** The most numbers whose owed months one transaction pays. */
const mostOwing = 500
/** The most transactions for owed months before that of one order. */
const mostPortions = 20
/** The most numbers that the text of a refusal names. */
const mostNamed = 5

const changed = ApiError.of("conflict", "the price has changed meanwhile; try again with a new Idempotency-Key")
const stillPaying = ApiError.of(
  "conflict",
  `months of more than ${mostOwing * mostPortions} numbers were owed, and those are paid; try again with a new Idempotency-Key`
)

const notCovered = (price: number, owed: ReturnType<typeof RenewalMonth.owed>) => {
  const named = owed.phoneNumbers.slice(0, mostNamed).join(", ")
  const more = owed.phoneNumbers.length > mostNamed ? " and others" : ""
  const months = owed.cents === 0 ? "" : `, and ${owed.cents} cents are owed for months of ${named}${more}`
  return ApiError.of(
    "insufficient_balance",
    `the order costs ${price} cents${months}: more than balance and credit limit allow beside what live calls reserve; top up and use a new Idempotency-Key`
  )
}

/**
 * Orders numbers, guide/numbers.md#ordering. One transaction claims numbers and money, under the lock of the tenant's
 * balance. The claimed numbers are activated after it (`OrderActivation`). Months that the tenant owes are paid in the
 * same transaction, or a number that is released and ordered again would be cheaper than one that is renewed.
 *
 * Before it the account reserves the price, so that the order cannot spend what live calls reserve, nor they its price.
 * After it the account reads its money again.
 *
 * When two tenants want the same number, its unique index allows only one of them, and only that one pays.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** Called after a transaction that changes these numbers for calls. */
  readonly forget: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<void>
}) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const jobs = yield* Jobs
  const accounts = yield* Accounts
  const entropy = yield* Entropy
  const connections = yield* Trunks
  const inventory = yield* Inventory.make
  const repo = yield* NumberRepo.make

  return Effect.fn("NumberOrder.place")(function* (caller: Audit.Caller, request: OrderRequest, slot: Slot | null) {
    const { countryCode, numberType, phoneNumbers } = request
    if (new Set(phoneNumbers).size !== phoneNumbers.length)
      return yield* ApiError.of("unprocessable", "phone_numbers holds a number twice", "phone_numbers")
    if (request.routeId !== null) yield* connections.resolve(caller.tenantId, request.routeId)
    if (!(yield* inventory.hasTier(countryCode, numberType))) return yield* noTier(countryCode, numberType)
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const orderId = Id.derive(seed, "order")

    const quote = Effect.gen(function* () {
      const available = yield* inventory.available(
        { tenantId: caller.tenantId, at },
        phoneNumbers,
        countryCode,
        numberType
      )
      const missing = phoneNumbers.find((phone) => !available.some((entry) => entry.phone_number === phone))
      if (missing !== undefined) return yield* notReservable(missing)
      const upfront = available.reduce((sum, entry) => sum + entry.upfront_cost_cents, 0)
      const monthly = available.reduce((sum, entry) => sum + entry.monthly_cost_cents, 0)
      return { available, upfront, monthly, price: upfront + monthly }
    })
    const owedBy = (numbers: ReadonlyArray<NumberView.NumberRow>) =>
      RenewalMonth.owed(
        numbers.map((number) => ({ ...number, tenantId: caller.tenantId })),
        at
      )

    const quoted = yield* quote
    const reserve = (id: Id.OrderId, cents: number, owing: ReturnType<typeof owedBy>) =>
      Effect.mapError(accounts.reserve(caller.tenantId, id, { purpose: "order", offers: [cents] }), (error) =>
        error.code === "insufficient_balance" && !(error instanceof TestMoneyRefused)
          ? notCovered(quoted.price, owing)
          : error
      )
    const payWithin = (owed: ReturnType<typeof owedBy>) =>
      Effect.as(owed.after.length === 0 ? Effect.void : repo.live(owed.after, at), {
        money: owed.money,
        audit: owed.resumed.map(({ after, before }) =>
          RenewalMonth.line(before, "resumed", before, after, `${orderId} ${before.id}`, at)
        )
      })
    /** Gives back what was reserved. A suspended number works again, even if the answer of the commit was lost. */
    const settled = (id: Id.OrderId, owing: ReturnType<typeof owedBy>) =>
      Effect.andThen(
        accounts.released(caller.tenantId, id),
        options.forget(owing.resumed.map(({ before }) => before.phoneNumber))
      )

    /** Pays the oldest owed months in a transaction of their own. */
    const payPortion = Effect.fnUntraced(function* (portion: number, owing: ReturnType<typeof owedBy>) {
      const id = Id.derive(`${seed} months ${portion}`, "order")
      yield* reserve(id, owing.cents, owing)
      yield* Effect.gen(function* () {
        const funds = yield* repo.lockFunds(caller.tenantId)
        const owed = owedBy(yield* repo.lockOwing(caller.tenantId, at, mostOwing))
        if (owed.cents > owing.cents) return yield* changed
        if (funds === null || funds < owed.cents) return yield* notCovered(quoted.price, owed)
        yield* journal.commitWithin({ ...empty, ...(yield* payWithin(owed)) })
      }).pipe(transaction, Effect.ensuring(settled(id, owing)))
    })

    /** The months that are left for the order's transaction. Months that are paid before stay so if it is refused. */
    const owing = yield* Effect.gen(function* () {
      for (let portion = 0; portion < mostPortions; portion++) {
        const numbers = yield* repo.owing(caller.tenantId, at, mostOwing)
        if (numbers.length < mostOwing) return owedBy(numbers)
        yield* payPortion(portion, owedBy(numbers))
      }
      return yield* stillPaying
    })
    const quotedCents = quoted.price + owing.cents
    yield* reserve(orderId, quotedCents, owing)

    return yield* Effect.gen(function* () {
      const funds = yield* repo.lockFunds(caller.tenantId)
      // A tenant that owed nothing a moment ago needs no further read while its balance is locked.
      const owed = owing.after.length === 0 ? owing : owedBy(yield* repo.lockOwing(caller.tenantId, at, mostOwing))
      const { available, monthly, price, upfront } = yield* quote
      if (price + owed.cents > quotedCents) return yield* changed
      if (funds === null || funds < price + owed.cents) return yield* notCovered(price, owed)

      const entries = available.map((entry, index) => ({ ...entry, id: Id.derive(seed, "did", index) }))
      const idOf = new Map(entries.map((entry) => [entry.phone_number, entry.id]))
      const order: NumberView.OrderRow = {
        id: orderId,
        tenantId: caller.tenantId,
        status: "pending",
        countryCode,
        numberType,
        phoneNumbers: phoneNumbers.map((phone) => ({
          id: idOf.get(phone) ?? null,
          phone_number: phone,
          status: "pending",
          failure_reason: null
        })),
        upfrontCostCents: upfront,
        monthlyCostCents: monthly,
        debitedCents: price,
        refundedCents: 0,
        routeId: request.routeId,
        customerReference: request.customerReference,
        createdAt: at,
        completedAt: null
      }
      yield* repo.insertOrder(order)
      const claimed = yield* repo.claim(order, entries)
      yield* jobs.enqueue({ kind: OrderActivation.kind, key: order.id, tenantId: caller.tenantId })
      const lost = phoneNumbers.find((phone) => !claimed.has(phone))
      if (lost !== undefined) return yield* notReservable(lost)

      const rendered: Rendered = { status: 201, body: JSON.stringify(NumberView.order(order)) }
      const debit: MoneyRow = {
        id: Id.derive(seed, "ledger"),
        tenantId: caller.tenantId,
        cause: `number_order:${order.id}`,
        type: "number_order",
        amountCents: -price,
        description: phoneNumbers.length === 1 ? `Number ${phoneNumbers.join()}` : `${phoneNumbers.length} numbers`,
        referenceType: "number_order",
        referenceId: order.id,
        at
      }
      const line = Audit.line({
        ...Audit.of(caller),
        at,
        seed,
        action: "number_order.created",
        resourceId: order.id,
        changes: [
          { field: "phone_numbers", from: null, to: phoneNumbers },
          { field: "price_cents", from: null, to: price }
        ]
      })
      const months = yield* payWithin(owed)
      yield* journal.commitWithin({
        ...empty,
        money: price === 0 ? months.money : [...months.money, debit],
        audit: [...months.audit, line],
        receipt: receipt(slot, rendered, at)
      })
      return { orderId: order.id, rendered }
    }).pipe(transaction, Effect.ensuring(settled(orderId, owing)))
  })
})
