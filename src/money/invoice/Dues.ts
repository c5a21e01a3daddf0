/** An invoice that the balance did not cover when it was issued. */
interface Unpaid {
  readonly isOpen: boolean
  /** The most that may be due: for an open one the amount at issue, for one that was given up the amount then. */
  readonly mostCents: number
}

/**
 * The amounts due of a tenant's unpaid invoices, the oldest first, while it owes `debtCents` for invoiced use. Payments
 * reach the oldest open invoice first, so the debt is that of the newest ones. Invoices that were given up are not
 * collected any more, so they keep their part of the debt until all open ones are paid.
 */
export const of = (debtCents: number, invoices: ReadonlyArray<Unpaid>): ReadonlyArray<number> => {
  let left = debtCents
  const dues = new Map<Unpaid, number>()
  for (const isOpen of [false, true])
    for (const invoice of invoices.filter((each) => each.isOpen === isOpen).toReversed()) {
      const due = Math.min(invoice.mostCents, left)
      dues.set(invoice, due)
      left -= due
    }
  return invoices.map((invoice) => dues.get(invoice) ?? 0)
}
