import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Id from "../../../domain/Id.ts"
import type { AuditRow, MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import { changesOf } from "../NumberChange.ts"
import * as NumberLife from "../NumberLife.ts"
import type { NumberRow } from "../NumberView.ts"

export type Owned = NumberRow & { readonly tenantId: Id.TenantId }

/** The cause of a month's debit, whether a renewal or an order pays it. `due` is the beginning of the month. */
export const causeOf = (id: Id.NumberId, due: number): string => `renewal:${id}:${new Date(due).toISOString()}`

export const moneyOf = (number: Owned, due: number, at: number): MoneyRow => {
  const cause = causeOf(number.id, due)
  return {
    id: Id.derive(cause, "ledger"),
    tenantId: number.tenantId,
    cause,
    type: "number_renewal",
    amountCents: -number.monthlyCostCents,
    description: `Number ${number.phoneNumber}, month from ${new Date(due).toISOString().slice(0, 10)}`,
    referenceType: "number",
    referenceId: number.id,
    at
  }
}

/** The audit line of a number whose life the system changes. */
export const line = (
  number: Owned,
  past: "resumed" | "suspended" | "released",
  before: NumberRow,
  after: NumberRow,
  seed: string,
  at: number,
  reason = past === "resumed" ? "paid" : "unpaid"
): AuditRow =>
  Audit.line({
    tenantId: number.tenantId,
    at,
    seed,
    actor: Audit.system,
    action: `number.${past}`,
    resourceId: number.id,
    changes: [...changesOf(before, after), { field: "reason", from: null, to: reason }]
  })

/** The payment of every month that has begun and is not paid, the oldest of a number first. */
export const owed = (numbers: ReadonlyArray<Owned>, at: number) => {
  const paid = numbers.map((before) => {
    const dues: Array<number> = []
    let after = before
    for (let due = NumberLife.dueMonth(after, at); due !== null; due = NumberLife.dueMonth(after, at)) {
      const step = NumberLife.step(after, { type: "renewed" }, at)
      if (step.type !== "accepted") break
      dues.push(due)
      after = { ...after, ...step.life }
    }
    return { before, after, dues }
  })
  const charged = paid.filter(({ before }) => before.monthlyCostCents > 0)
  const money = charged.flatMap(({ before, dues }) => dues.map((due) => moneyOf(before, due, at)))
  return {
    after: paid.filter(({ dues }) => dues.length > 0).map(({ after }) => after),
    money,
    cents: money.reduce((sum, { amountCents }) => sum - amountCents, 0),
    phoneNumbers: charged.filter(({ dues }) => dues.length > 0).map(({ before }) => before.phoneNumber),
    /** Numbers that were suspended for want of payment, and work again. */
    resumed: paid.filter(({ after, before }) => before.unpaidSuspendedAt !== null && after.unpaidSuspendedAt === null)
  }
}
