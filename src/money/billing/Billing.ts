import { Clock, Context, Effect, Layer, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as Id from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Increments from "../../domain/price/Increments.ts"
import * as Money from "../../domain/Money.ts"
import type * as WorkPrice from "../../domain/WorkPrice.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { type Commit, empty, Journal, type MoneyRow } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import { type Balance, type BalanceView, type LedgerEntryView, view } from "./BillingView.ts"
import * as LedgerRepo from "./LedgerRepo.ts"
import * as RateDeck from "./RateDeck.ts"
import * as RateDecks from "./RateDecks.ts"
import type * as RateDiscounts from "./RateDiscounts.ts"
import * as WorkPriceRows from "./WorkPriceRows.ts"

export { LedgerEntry, ledgerEntry, type LedgerEntryView } from "./BillingView.ts"
export { entryColumns } from "./LedgerRepo.ts"
export { Balance } from "./BillingView.ts"
export * as RateDeck from "./RateDeck.ts"
export * as RateDecks from "./RateDecks.ts"
export * as RateRows from "./RateRows.ts"

/** The kinds of adjustments by the operator, and how their causes begin. */
const causes = { payment: "adjustment", correction: "correction" } as const
type AdjustmentKind = keyof typeof causes

/**
 * Billing: balance, ledger and call rates, guide/money.md.
 *
 * Only the commit statement moves the balance, so that each ledger row knows the balance that it left, and the sum of
 * the rows is the balance. Code that moves money outside a call notifies the account afterwards
 * (`Accounts.moneyMoved`).
 */
export class Billing extends Context.Service<
  Billing,
  {
    /** The balance row of a new tenant, inside signup's transaction. */
    readonly openWithin: (tenant: { readonly id: Id.TenantId; readonly at: number }) => Effect.Effect<void>
    /**
     * The trial credit of a tenant, inside the caller's transaction. Nothing when the tenant, or anybody with this
     * identity, has had one.
     */
    readonly trialWithin: (trial: {
      readonly id: Id.TenantId
      readonly at: number
      readonly seed: string
      /** A hash that identifies the recipient. */
      readonly identity: string
    }) => Effect.Effect<ReadonlyArray<MoneyRow>>
    /** Fails with 404 for an unknown tenant. */
    readonly balance: (tenantId: Id.TenantId) => Effect.Effect<BalanceView, ApiError>
    readonly ledger: (
      tenantId: Id.TenantId,
      filters: LedgerRepo.LedgerFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<LedgerEntryView>>
    /** All entries that match the filters, the oldest first, in portions that are read when pulled. Run it once. */
    readonly wholeLedger: (
      tenantId: Id.TenantId,
      filters: LedgerRepo.LedgerFilters
    ) => Effect.Effect<Stream.Stream<ReadonlyArray<LedgerEntryView>, unknown>>
    /** One entry; null when there is none. */
    readonly entry: (tenantId: Id.TenantId, id: Id.LedgerEntryId) => Effect.Effect<LedgerEntryView | null>
    /**
     * Books an `adjustment` by the operator, which gives or takes money. Returns the balance in cents. A `correction`
     * belongs to the charges of the tenant, and anything else to its payments (`payment`, where it is left out). With a
     * key, a repetition books nothing more, and one with other values fails with `idempotency_conflict`.
     */
    readonly adjust: (
      tenantId: Id.TenantId,
      amountCents: number,
      description: string,
      kind?: AdjustmentKind,
      idempotencyKey?: string | null
    ) => Effect.Effect<{ readonly balanceCents: number }, ApiError>
    /** A positive limit lets the balance go below zero by as much. */
    readonly setCreditLimit: (tenantId: Id.TenantId, cents: number) => Effect.Effect<void, ApiError>
    /**
     * The price of a tenant's call to `number`, from memory. `number` is E.164, and the tenant's own for an inbound
     * call. Fails with `country_not_allowed` when no deck names a price.
     */
    readonly rate: (
      tenantId: Id.TenantId,
      direction: RateDeck.Direction,
      number: string
    ) => Effect.Effect<Increments.Price, ApiError>
    /** The deck that is in effect now: the tenant's own, or (null) that for all. */
    readonly rates: (tenantId: Id.TenantId | null) => Effect.Effect<ReadonlyArray<RateDeck.Rate>>
    /** The rates of one deck, whether it was, is or will be in effect. Fails with 404 for an unknown one. */
    readonly ratesOf: (deck: number) => Effect.Effect<ReadonlyArray<RateDeck.Rate>, ApiError>
    /** The decks of a tenant, or (null) those for all, in the order in which they take effect. */
    readonly decks: (tenantId: Id.TenantId | null) => Effect.Effect<ReadonlyArray<RateDecks.Dated>>
    /** The changes that a deck would make to the one in effect at that moment; null: now. */
    readonly rateDifference: (
      rates: ReadonlyArray<RateDeck.Rate>,
      effectiveAt: number | null,
      tenantId?: Id.TenantId | null
    ) => Effect.Effect<ReadonlyArray<RateDeck.Difference>, ApiError>
    /**
     * Replaces the whole deck, or nothing of it, from `effectiveAt` on (absent or null: at once). With a tenant it is
     * that tenant's own deck. A call keeps the rates that it was admitted with.
     */
    readonly setRates: (
      rates: ReadonlyArray<RateDeck.Rate>,
      effectiveAt?: number | null,
      tenantId?: Id.TenantId | null
    ) => Effect.Effect<void, ApiError>
    /** Withdraws a deck that is not in effect yet. Fails with 409 for any other. */
    readonly cancelRates: (deck: number) => Effect.Effect<void, ApiError>
    readonly discounts: Effect.Effect<ReadonlyArray<RateDiscounts.Discount>>
    /** Lowers a tenant's prices of the deck for all by so many hundredths of a percent, from the next call on. */
    readonly setDiscount: (tenantId: Id.TenantId, hundredths: number) => Effect.Effect<void, ApiError>
    /** The prices of work on calls, from memory. */
    readonly prices: Effect.Effect<WorkPrice.Prices>
    /** The price of a number lookup, in micro-USD, from memory. */
    readonly lookupPrice: Effect.Effect<number>
    /** A call keeps the prices that it was admitted with. */
    readonly setPrice: (kind: WorkPrice.Priced, microUsd: number) => Effect.Effect<void, ApiError>
  }
>()("trunkline/billing/Billing") {
  static readonly layer = (options: { readonly trialCreditCents: number }) =>
    Layer.effect(
      Billing,
      Effect.gen(function* () {
        const { all, done, some, sql, transaction } = yield* Sql.make
        const ledgers = yield* LedgerRepo.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        const decks = yield* RateDecks.make
        let { lookup: lookupPrice, ...prices } = yield* WorkPriceRows.read

        const openWithin = (tenant: { readonly id: Id.TenantId; readonly at: number }) =>
          done`
            INSERT INTO balance (tenant_id, balance_cents, updated_at)
            VALUES (${tenant.id}, 0, ${timestamptz(tenant.at)})`

        const balance = Effect.fn("Billing.balance")(function* (tenantId: Id.TenantId) {
          const [row] = yield* all<typeof Balance.Type>`
            SELECT balance_cents, credit_limit_cents, auto_recharge_threshold_cents, auto_recharge_amount_cents,
              updated_at
            FROM balance WHERE tenant_id = ${tenantId}`
          if (row === undefined) return yield* ApiError.of("not_found", "no such tenant")
          return view(row)
        })

        return Billing.of({
          prices: Effect.sync(() => prices),
          lookupPrice: Effect.sync(() => lookupPrice),
          setPrice: Effect.fn("Billing.setPrice")(function* (kind, microUsd) {
            if (!Number.isSafeInteger(microUsd) || microUsd < 0 || microUsd > RateDeck.maxMicroUsdPerMinute)
              return yield* ApiError.of(
                "invalid_request",
                `the price must be a whole number of micro-USD, at most ${RateDeck.maxMicroUsdPerMinute}`
              )
            const line = Audit.line({
              tenantId: null,
              at: yield* Clock.currentTimeMillis,
              seed: entropy.hex(16),
              actor: yield* Audit.operator,
              action: "price.changed",
              resourceId: kind,
              changes: [{ field: "micro_usd", from: kind === "lookup" ? lookupPrice : prices[kind], to: microUsd }]
            })
            yield* Effect.andThen(
              Effect.provideService(WorkPriceRows.write(kind, microUsd), SqlClient.SqlClient, sql),
              journal.commitWithin({ ...empty, audit: [line] })
            ).pipe(transaction)
            if (kind === "lookup") lookupPrice = microUsd
            else prices = { ...prices, [kind]: microUsd }
          }),
          openWithin,
          trialWithin: Effect.fn("Billing.trialWithin")(function* (tenant) {
            if (options.trialCreditCents === 0) return []
            const isFirst = yield* some`
            INSERT INTO trial_credit (identity_hash, tenant_id, given_at)
            VALUES (${tenant.identity}, ${tenant.id}, ${timestamptz(tenant.at)})
            ON CONFLICT DO NOTHING RETURNING 1`
            if (!isFirst) return []
            const credit: MoneyRow = {
              id: Id.derive(tenant.seed, "ledger"),
              tenantId: tenant.id,
              cause: `trial:${tenant.id}`,
              type: "adjustment",
              amountCents: options.trialCreditCents,
              description: "Trial credit",
              referenceType: null,
              referenceId: null,
              at: tenant.at
            }
            return [credit]
          }),
          balance,
          ledger: (tenantId, filters, window) => ledgers.page(tenantId, filters, window),
          wholeLedger: (tenantId, filters) => Effect.orDie(ledgers.whole(tenantId, filters)),
          entry: ledgers.entry,
          adjust: Effect.fn("Billing.adjust")(function* (
            tenantId,
            amountCents,
            description,
            kind = "payment",
            idempotencyKey = null
          ) {
            if (
              !Number.isSafeInteger(amountCents) ||
              amountCents === 0 ||
              Math.abs(amountCents) > Money.mostBookedCents
            )
              return yield* ApiError.of(
                "invalid_request",
                `the amount must be a whole number of cents, not 0, and at most ${Money.mostBookedCents} either way`,
                "cents"
              )
            const before = yield* balance(tenantId)
            const seed = idempotencyKey === null ? entropy.hex(16) : `adjustment ${tenantId} ${idempotencyKey}`
            const id = Id.derive(seed, "ledger")
            const cause = `${causes[kind]}:${id}`
            /** Whether the key has booked this already. */
            const isBooked = Effect.gen(function* () {
              const booked = yield* ledgers.entry(tenantId, id)
              if (booked === null) return false
              const { amount_cents: cents, description: said } = booked
              if (
                cents === amountCents &&
                said === description &&
                (yield* some`SELECT FROM ledger WHERE cause = ${cause}`)
              )
                return true
              return yield* ApiError.of(
                "idempotency_conflict",
                `the key has booked ${cents} cents, ${JSON.stringify(said)}`,
                "idempotency_key"
              )
            })
            if (idempotencyKey !== null && (yield* isBooked)) return { balanceCents: before.balance_cents }
            // This check is not under the balance's lock. Several bookings at once may pass the bound by little, and
            // sums stay exact.
            const afterCents = Math.abs(before.balance_cents + amountCents)
            if (afterCents > Money.mostCents && afterCents > Math.abs(before.balance_cents))
              return yield* ApiError.of(
                "invalid_request",
                `the balance would be more than ${Money.mostCents} cents from zero`,
                "cents"
              )
            const now = yield* Clock.currentTimeMillis
            const commit: Commit = {
              ...empty,
              money: [
                {
                  id,
                  tenantId,
                  cause,
                  type: "adjustment",
                  amountCents,
                  description,
                  referenceType: null,
                  referenceId: null,
                  at: now
                }
              ],
              audit: [
                Audit.line({
                  tenantId,
                  at: now,
                  seed,
                  actor: yield* Audit.operator,
                  action: "balance.adjusted",
                  resourceId: tenantId,
                  changes: [
                    { field: "amount_cents", from: null, to: amountCents },
                    { field: "reason", from: null, to: description }
                  ]
                })
              ]
            }
            if (idempotencyKey === null) {
              const committed = yield* journal.commitAsked(commit)
              return { balanceCents: committed.balanceCents ?? before.balance_cents + amountCents }
            }
            return yield* Effect.gen(function* () {
              // Requests with one key wait for each other here, so the second one finds the entry of the first.
              yield* done`SELECT FROM balance WHERE tenant_id = ${tenantId} FOR UPDATE`
              const committed = (yield* isBooked) ? null : yield* journal.commitWithin(commit)
              return { balanceCents: committed?.balanceCents ?? (yield* balance(tenantId)).balance_cents }
            }).pipe(transaction)
          }),
          setCreditLimit: Effect.fn("Billing.setCreditLimit")(function* (tenantId, cents) {
            if (!Number.isSafeInteger(cents) || cents < 0 || cents > Money.mostCents)
              return yield* ApiError.of(
                "invalid_request",
                `the credit limit must be a whole number of cents, 0 to ${Money.mostCents}`
              )
            const before = yield* balance(tenantId)
            const at = yield* Clock.currentTimeMillis
            const line = Audit.line({
              tenantId,
              at,
              seed: entropy.hex(16),
              actor: yield* Audit.operator,
              action: "balance.credit_limit_changed",
              resourceId: tenantId,
              changes: [{ field: "credit_limit_cents", from: before.credit_limit_cents, to: cents }]
            })
            yield* Effect.andThen(
              sql`UPDATE balance SET credit_limit_cents = ${cents}, updated_at = ${timestamptz(at)}
                WHERE tenant_id = ${tenantId}`,
              journal.commitWithin({ ...empty, audit: [line] })
            ).pipe(transaction)
          }),
          rate: decks.rate,
          rates: decks.rates,
          ratesOf: decks.ratesOf,
          decks: decks.decks,
          rateDifference: decks.difference,
          setRates: decks.set,
          cancelRates: decks.cancel,
          discounts: decks.discounts.all,
          setDiscount: decks.discounts.set
        })
      })
    )
}
