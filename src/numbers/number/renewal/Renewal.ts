import { Clock, Effect } from "effect"
import { Accounts } from "../../../money/account/Account.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Letters } from "../../../ports/letter/Letter.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as NumberLife from "../NumberLife.ts"
import * as NumberRepo from "../NumberRepo.ts"
import * as RenewalLetter from "./RenewalLetter.ts"
import { causeOf, line, moneyOf, type Owned } from "./RenewalMonth.ts"

/**
 * The months of numbers, guide/numbers.md#renewals, also those that a tenant owes for numbers that it has lost. Each is
 * debited once, from its due date on, in order, and never below the credit limit. Its money is reserved first, so that
 * it and live calls cannot spend the same money. The number's row is locked, so that a second renewal finds the month
 * paid.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** Called after a transaction that changes these numbers for calls. */
  readonly forget: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<void>
}) {
  const { transaction } = yield* Sql.make
  const accounts = yield* Accounts
  const journal = yield* Journal
  const letters = yield* Letters
  const repo = yield* NumberRepo.make

  /** Debits the due month at this price. A number that has changed meanwhile is not debited, and is looked at again. */
  const debit = Effect.fnUntraced(function* (number: Owned, due: number, at: number) {
    const funds = yield* repo.lockFunds(number.tenantId)
    const row = yield* repo.lock(number.tenantId, number.id)
    const cents = number.monthlyCostCents
    if (row === null || NumberLife.dueMonth(row, at) !== due || row.monthlyCostCents !== cents) return row
    const outcome = NumberLife.step(row, { type: "renewed" }, at)
    if (outcome.type !== "accepted") return row
    if (cents > 0 && (funds === null || funds < cents)) return null
    const after = { ...row, ...outcome.life }
    const cause = causeOf(number.id, due)
    yield* repo.live([after], at)
    yield* journal.commitWithin({
      ...empty,
      money: cents === 0 ? [] : [moneyOf(number, due, at)],
      audit: row.unpaidSuspendedAt === null ? [] : [line(number, "resumed", row, after, cause, at)]
    })
    return after
  }, transaction)

  /** `isPaid` is true when the oldest due month is paid, or no longer due; false when there is no money for it. */
  const pay = Effect.fnUntraced(function* (number: Owned, due: number) {
    const at = yield* Clock.currentTimeMillis
    // The reservation has a separate id, which no order has.
    const id = Id.derive(causeOf(number.id, due), "order")
    const cents = number.monthlyCostCents
    if (cents > 0) {
      const reserved = yield* accounts.reserve(number.tenantId, id, { purpose: "order", offers: [cents] }).pipe(
        Effect.as(true),
        Effect.catchIf(
          (error: ApiError) => error.code === "insufficient_balance",
          () => Effect.succeed(false)
        )
      )
      if (!reserved) return { isPaid: false, number }
    }
    const row = yield* debit(number, due, at).pipe(
      Effect.ensuring(cents > 0 ? accounts.released(number.tenantId, id) : Effect.void),
      // A suspended number works again, even if the answer of the commit was lost.
      Effect.ensuring(number.unpaidSuspendedAt === null ? Effect.void : options.forget([number.phoneNumber]))
    )
    return row === null ? { isPaid: false, number } : { isPaid: true, number: { ...number, ...row } }
  })

  /**
   * Pays the due months of the number, or those that are owed for one without an owner, the oldest first. Returns false
   * when there is no money for one.
   */
  const settle = Effect.fnUntraced(function* (number: Owned) {
    let current = number
    for (;;) {
      const due = NumberLife.dueMonth(current, yield* Clock.currentTimeMillis)
      if (due === null) return true
      const paid = yield* pay(current, due)
      if (!paid.isPaid) return false
      current = paid.number
    }
  })

  /** Takes the next step for several unpaid numbers of a tenant, with one letter of each kind. */
  const remind = Effect.fnUntraced(function* (tenantId: Id.TenantId, numbers: ReadonlyArray<Owned>) {
    const at = yield* Clock.currentTimeMillis
    yield* Effect.gen(function* () {
      const rows = yield* repo.lockAll(numbers.map(({ id }) => id))
      const steps = rows.flatMap((row) => {
        const outcome = NumberLife.step(row, { type: "unpaid" }, at)
        return outcome.type === "accepted" ? [{ row, after: { ...row, ...outcome.life }, letter: outcome.letter }] : []
      })
      if (steps.length === 0) return
      yield* repo.live(
        steps.map(({ after }) => after),
        at
      )
      yield* journal.commitWithin({
        ...empty,
        audit: steps.flatMap(({ after, letter, row }) =>
          letter === "suspended" || letter === "released"
            ? [
                line(
                  { ...row, tenantId },
                  letter,
                  row,
                  after,
                  `${causeOf(row.id, row.nextRenewalAt ?? at)} ${letter}`,
                  at
                )
              ]
            : []
        )
      })
      for (const [letter, of] of Map.groupBy(steps, (step) => step.letter)) {
        const [first] = of
        if (letter === null || first === undefined) continue
        yield* letters.postToWithin({
          cause: `${causeOf(first.row.id, first.row.nextRenewalAt ?? at)} ${letter} ${first.after.reminders}`,
          tenantId,
          audience: "billing",
          letter: RenewalLetter.of(
            letter,
            of.map(({ row }) => row)
          )
        })
      }
    }).pipe(transaction, Effect.ensuring(options.forget(numbers.map(({ phoneNumber }) => phoneNumber))))
  })

  /** Releases numbers of a closed tenant for good. Returns false when it has no more, or is not closed. */
  const releaseClosed = Effect.fnUntraced(function* (tenantId: Id.TenantId, limit: number) {
    const at = yield* Clock.currentTimeMillis
    const released = yield* Effect.gen(function* () {
      const steps = (yield* repo.lockClosed(tenantId, limit)).flatMap((row) => {
        const outcome = NumberLife.step(row, { type: "released", by: "operator", isHeld: false }, at)
        return outcome.type === "accepted" ? [{ row, after: { ...row, ...outcome.life } }] : []
      })
      if (steps.length === 0) return []
      yield* repo.live(
        steps.map(({ after }) => after),
        at
      )
      const audit = steps.map(({ after, row }) =>
        line({ ...row, tenantId }, "released", row, after, `closed ${row.id}`, at, "tenant_closed")
      )
      yield* journal.commitWithin({ ...empty, audit })
      return steps.map(({ row }) => row.phoneNumber)
    }).pipe(transaction)
    yield* options.forget(released)
    return released.length > 0
  }, Effect.uninterruptible)

  return { settle, remind, releaseClosed }
})
