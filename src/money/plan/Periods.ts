import { Clock, Effect } from "effect"
import { Accounts } from "../account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { type AuditRow, empty, Journal, type MoneyRow, type Receipt } from "../../runtime/store/journal/Journal.ts"
import * as Included from "./Included.ts"
import type { PlanRepo, SubscriptionRow } from "./PlanRepo.ts"
import type { PlanRow } from "./PlanView.ts"

const dayMs = 86_400_000
/** An unpaid fee is tried once a day, and on the seventh day the plan ends. */
const graceMs = 7 * dayMs
/** The days of the grace period on which a letter is sent. */
const letterDays = [0, 3, 6]

const notCovered = (cents: number) =>
  ApiError.of(
    "insufficient_balance",
    `the plan costs ${cents} cents, more than balance and credit limit allow; top up first`
  )

/**
 * The periods of subscriptions, guide/money.md#plans. The fee of a period is debited once, keyed by tenant and period,
 * never below the credit limit. It is reserved first, so that it and live calls cannot spend the same money.
 */
export const make = (repo: PlanRepo, covered: (tenantId: Id.TenantId) => Effect.Effect<void, unknown>) =>
  Effect.gen(function* () {
    const { transaction } = yield* Sql.make
    const journal = yield* Journal
    const accounts = yield* Accounts
    const letters = yield* Letters
    const entropy = yield* Entropy

    const causeOf = (tenantId: Id.TenantId, periodStart: number) =>
      `plan:${tenantId}:${new Date(periodStart).toISOString()}`

    const feeOf = (tenantId: Id.TenantId, plan: PlanRow, periodStart: number, at: number): MoneyRow => ({
      id: Id.derive(causeOf(tenantId, periodStart), "ledger"),
      tenantId,
      cause: causeOf(tenantId, periodStart),
      type: "plan_fee",
      amountCents: -plan.monthlyFeeCents,
      description: `Plan ${plan.name}`,
      referenceType: "plan",
      referenceId: plan.slug,
      at
    })

    /** Reserves the fee for as long as `use` takes. Each of several at once has its own reservation. */
    const reserving = <A, E, R>(tenantId: Id.TenantId, cents: number, use: Effect.Effect<A, E, R>) => {
      if (cents === 0) return use
      const id = Id.derive(entropy.hex(16), "order")
      return accounts
        .reserve(tenantId, id, { purpose: "order", offers: [cents] })
        .pipe(Effect.andThen(use), Effect.ensuring(accounts.released(tenantId, id)))
    }

    /** Books the fee and its audit line, inside the caller's transaction and after the subscription's row. */
    const pay = Effect.fnUntraced(function* (
      of: { readonly tenantId: Id.TenantId; readonly plan: PlanRow; readonly periodStart: number; readonly at: number },
      line: AuditRow,
      receipt: Receipt | null
    ) {
      const { at, periodStart, plan, tenantId } = of
      yield* journal.commitWithin({
        ...empty,
        money: plan.monthlyFeeCents === 0 ? [] : [feeOf(tenantId, plan, periodStart, at)],
        audit: [line],
        receipt
      })
    })

    const lineOf = (
      tenantId: Id.TenantId,
      at: number,
      action: string,
      from: string | null,
      to: string | null,
      by: { readonly actor: Audit.Actor; readonly ip: string | null }
    ) =>
      Audit.line({
        tenantId,
        at,
        seed: `${tenantId} ${at} ${from} ${to}`,
        ...by,
        action,
        resourceId: tenantId,
        changes: [{ field: "plan_slug", from, to }]
      })

    const system = { actor: Audit.system, ip: null }

    /** Locks and returns the subscription; null when another request has changed it, and the next round retries. */
    const unchanged = (row: SubscriptionRow) =>
      Effect.map(repo.find(row.tenantId, true), (locked) =>
        locked !== null && locked.nextTryAt === row.nextTryAt && locked.nextPlanSlug === row.nextPlanSlug
          ? locked
          : null
      )

    /** Begins the first period of a tenant without a plan; `conflict` when another request was first. */
    const start = Effect.fn("Periods.begin")(function* (
      tenantId: Id.TenantId,
      plan: PlanRow,
      by: { readonly actor: Audit.Actor; readonly ip: string | null },
      receiptAt: (row: SubscriptionRow, at: number) => Receipt | null
    ) {
      const at = yield* Clock.currentTimeMillis
      const started = yield* reserving(
        tenantId,
        plan.monthlyFeeCents,
        Effect.gen(function* () {
          const funds = yield* repo.lockFunds(tenantId)
          if (plan.monthlyFeeCents > 0 && (funds === null || funds < plan.monthlyFeeCents))
            return yield* notCovered(plan.monthlyFeeCents)
          const periodEnd = Included.nextPeriod(at, at)
          const row: SubscriptionRow = {
            tenantId,
            planSlug: plan.slug,
            nextPlanSlug: plan.slug,
            status: "active",
            beganAt: at,
            periodStart: at,
            periodEnd,
            included: plan.included,
            used: {},
            throughOrdinal: yield* repo.newest(tenantId),
            concurrentCallLimit: plan.limits.concurrentCallLimit,
            nextTryAt: periodEnd
          }
          if (!(yield* repo.insert(row, at)))
            return yield* ApiError.of("conflict", "the subscription was changed meanwhile; try again")
          yield* pay(
            { tenantId, plan, periodStart: at, at },
            lineOf(tenantId, at, "plan_subscription.began", null, plan.slug, by),
            receiptAt(row, at)
          )
          return row
        }).pipe(transaction)
      )
      yield* accounts.moneyMoved(tenantId)
      return started
    })

    const end = Effect.fnUntraced(function* (row: SubscriptionRow, at: number, because: "ended" | "unpaid") {
      const isOver = yield* Effect.gen(function* () {
        if ((yield* unchanged(row)) === null) return false
        yield* repo.remove(row.tenantId)
        const line = lineOf(row.tenantId, at, "plan_subscription.ended", row.planSlug, null, system)
        yield* journal.commitWithin({ ...empty, audit: [line] })
        if (because === "unpaid")
          yield* letters.postToWithin({
            cause: `plan:${row.tenantId}:${row.periodEnd}:ended`,
            tenantId: row.tenantId,
            audience: "billing",
            letter: {
              subject: "Your plan has ended",
              paragraphs: [
                "Its monthly fee could not be paid for 7 days. Your calls go on at the usual prices; you can choose a plan again at any time."
              ],
              link: null
            }
          })
        return true
      }).pipe(transaction)
      // The account reads that no plan sets limits any more.
      if (isOver) yield* accounts.moneyMoved(row.tenantId)
    })

    const unpaid = Effect.fnUntraced(function* (row: SubscriptionRow, plan: PlanRow, at: number) {
      if (at >= row.periodEnd + graceMs) return yield* end(row, at, "unpaid")
      const day = Math.floor((at - row.periodEnd) / dayMs)
      yield* Effect.gen(function* () {
        const locked = yield* unchanged(row)
        if (locked === null) return
        const next = Math.min(at + dayMs, row.periodEnd + graceMs)
        yield* repo.update({ ...locked, status: "past_due", nextTryAt: next }, at)
        if (row.status === "active") {
          const line = lineOf(row.tenantId, at, "plan_subscription.past_due", row.planSlug, row.planSlug, system)
          yield* journal.commitWithin({ ...empty, audit: [line] })
        }
        if (letterDays.includes(day))
          yield* letters.postToWithin({
            cause: `plan:${row.tenantId}:${row.periodEnd}:${day}`,
            tenantId: row.tenantId,
            audience: "billing",
            letter: {
              subject: "The fee of your plan could not be paid",
              paragraphs: [
                `Your balance does not cover the monthly fee of the plan ${plan.name}. Please top up: it is tried again every day.`,
                `What the plan includes waits for the fee. On ${new Date(row.periodEnd + graceMs).toISOString().slice(0, 10)} the plan ends.`
              ],
              link: null
            }
          })
      }).pipe(transaction)
    })

    /** Ends the plan of a closed tenant, after it has covered the debits so far. */
    const close = Effect.fn("Periods.close")(function* (tenantId: Id.TenantId) {
      yield* covered(tenantId)
      const row = yield* repo.find(tenantId, false)
      if (row !== null) yield* end(row, yield* Clock.currentTimeMillis, "ended")
    })

    /** Renews one tenant's plan if it is due. When it is late by more than a period, it pays only the current one. */
    const renew = Effect.fn("Periods.renew")(function* (tenantId: Id.TenantId) {
      const at = yield* Clock.currentTimeMillis
      const row = yield* repo.find(tenantId, false)
      if (row === null) return
      if ((yield* accounts.overview(tenantId)).status === "closed")
        return (yield* repo.hasCalls(tenantId)) ? undefined : yield* close(tenantId)
      if (row.nextTryAt > at) return
      // Earlier debits count against the period that ends.
      if (row.status === "active") yield* covered(tenantId)
      const plan = row.nextPlanSlug === null ? null : yield* repo.plan(row.nextPlanSlug)
      if (plan === null) return yield* end(row, at, "ended")
      let periodStart = row.periodEnd
      for (
        let next = Included.nextPeriod(row.beganAt, periodStart);
        next <= at;
        next = Included.nextPeriod(row.beganAt, next)
      )
        periodStart = next
      const isPaid = yield* reserving(
        tenantId,
        plan.monthlyFeeCents,
        Effect.gen(function* () {
          // The order of locks is that of `Coverage`: the subscription, then the balance.
          const locked = yield* unchanged(row)
          if (locked === null) return true
          const funds = yield* repo.lockFunds(tenantId)
          if (plan.monthlyFeeCents > 0 && (funds === null || funds < plan.monthlyFeeCents)) return false
          const periodEnd = Included.nextPeriod(row.beganAt, periodStart)
          // Debits from an unpaid time stay debited.
          const throughOrdinal = row.status === "active" ? locked.throughOrdinal : yield* repo.newest(tenantId)
          const line = lineOf(tenantId, at, "plan_subscription.renewed", row.planSlug, plan.slug, system)
          yield* pay({ tenantId, plan, periodStart, at }, line, null)
          yield* repo.update(
            {
              ...locked,
              planSlug: plan.slug,
              status: "active",
              periodStart,
              periodEnd,
              included: plan.included,
              used: {},
              throughOrdinal,
              concurrentCallLimit: plan.limits.concurrentCallLimit,
              nextTryAt: periodEnd
            },
            at
          )
          return true
        }).pipe(transaction)
      ).pipe(
        Effect.catchIf(
          (error) => error instanceof ApiError && error.code !== "service_unavailable",
          () => Effect.succeed(false)
        )
      )
      if (!isPaid) return yield* unpaid(row, plan, at)
      yield* accounts.moneyMoved(tenantId)
    })

    /** Sets the plan after this period; null for none. */
    const change = (
      row: SubscriptionRow,
      nextPlanSlug: string | null,
      at: number,
      by: { readonly actor: Audit.Actor; readonly ip: string | null },
      receipt: Receipt | null
    ) =>
      Effect.gen(function* () {
        // An unpaid plan changes now, because there is no period to wait for.
        const nextTryAt = row.status === "past_due" ? at : row.nextTryAt
        yield* repo.update({ ...row, nextPlanSlug, nextTryAt }, at)
        const line = lineOf(row.tenantId, at, "plan_subscription.changed", row.nextPlanSlug, nextPlanSlug, by)
        yield* journal.commitWithin({ ...empty, audit: [line], receipt })
      })

    return { start, renew, change, close } as const
  })
