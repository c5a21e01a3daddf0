import { Effect } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as Id from "../../domain/Id.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import * as InvoiceRepo from "./InvoiceRepo.ts"
import { numberOf, type Party } from "./InvoiceView.ts"
import * as Dues from "./Dues.ts"
import * as Statement from "./Statement.ts"

/** This long after the end of a month, everything that was booked in it has been committed. */
const settledMs = 3_600_000

/** No letter is sent for an invoice that is issued later than this after the end of its month. */
const newsMs = 15 * 86_400_000

/**
 * Issues the invoices of the months that are over, guide/money.md#invoices, the oldest first, each in one transaction
 * with its number. Its content is read before that, because entries of the ledger never change. Without a seller none
 * is issued; the invoices that are due then follow when there is one.
 */
export const make = (options: {
  readonly repo: Effect.Success<typeof InvoiceRepo.make>
  /** A link to the PDF that is valid for as long as a letter may be read. */
  readonly link: (id: Id.InvoiceId, now: number) => string
}) =>
  Effect.gen(function* () {
    const { transaction } = yield* Sql.make
    const journal = yield* Journal
    const letters = yield* Letters
    const { link, repo } = options

    const issue = Effect.fnUntraced(function* (due: InvoiceRepo.Due, seller: Party, now: number) {
      const { after, firstAt, openingCents, tenantId } = due
      const month = Statement.monthOf(firstAt)
      const groups = yield* repo.groups(tenantId, after, month.end)
      const through = groups[0]?.through ?? after
      const statement = Statement.of(openingCents, groups)
      const totalCents = statement.subtotalCents
      const id = Id.derive(`${tenantId} ${month.period}`, "inv")
      yield* Effect.gen(function* () {
        // The debt of invoices that were given up is in the balance, and is not due with this one.
        const closingCents = statement.closingBalanceCents + (yield* repo.givenUpCents(tenantId))
        const owedCents = InvoiceRepo.owedCents(totalCents, closingCents)
        const status = owedCents === 0 ? "paid" : "open"
        const number = yield* repo.nextNumber
        const name = numberOf(number)
        yield* repo.insert({
          id,
          tenantId,
          number,
          status,
          period: month.period,
          periodStart: month.start,
          periodEnd: month.end,
          throughOrdinal: through,
          totalCents,
          amountDueCents: owedCents,
          document: { ...statement, seller, buyer: yield* repo.buyer(tenantId) },
          issuedAt: now,
          paidAt: status === "paid" ? now : null
        })
        yield* journal.commitWithin({
          ...empty,
          audit: [
            Audit.line({
              tenantId,
              at: now,
              seed: id,
              actor: Audit.system,
              action: "invoice.issued",
              resourceId: id,
              changes: [
                { field: "number", from: null, to: name },
                { field: "total_cents", from: null, to: totalCents }
              ]
            })
          ]
        })
        if (now - month.end <= newsMs)
          yield* letters.postToWithin({
            cause: `invoice:${id}`,
            tenantId,
            audience: "billing",
            letter: {
              subject: `Invoice ${name}`,
              paragraphs: [
                `Your invoice for ${month.period.slice(0, 7)} is here: ${dollars(totalCents)} in all, of which ${dollars(owedCents)} are still to be paid.`,
                "The link holds for 30 days; the invoice itself is kept, and can be had from the API at any time."
              ],
              link: { label: "Download the invoice", url: link(id, now) }
            }
          })
      }).pipe(transaction)
      return month.end
    })

    /** Lets the payments of a tenant reach its invoices. */
    const settle = Effect.fnUntraced(function* (tenantId: Id.TenantId, now: number) {
      const { debtCents, invoices } = yield* repo.lockUnpaid(tenantId)
      const unpaid = invoices.map(({ amountDueCents, document, status, totalCents }) => ({
        isOpen: status === "open",
        mostCents: status === "open" ? InvoiceRepo.owedCents(totalCents, document.closingBalanceCents) : amountDueCents
      }))
      const dues = Dues.of(debtCents, unpaid)
      const changed = invoices.flatMap(({ amountDueCents, id, status }, index) => {
        const dueCents = dues[index] ?? 0
        return dueCents === amountDueCents ? [] : [{ id, dueCents, isPaid: status === "open" && dueCents === 0 }]
      })
      for (const { dueCents, id } of changed) yield* repo.setDue(id, dueCents, now)
      const paid = changed.filter(({ isPaid }) => isPaid)
      if (paid.length > 0)
        yield* journal.commitWithin({
          ...empty,
          audit: paid.map(({ id }) => statusLine({ tenantId, id, at: now, actor: Audit.system, to: "paid" }))
        })
    }, transaction)

    return Effect.fn("Issue.round")(function* (now: number) {
      const seller = yield* repo.seller
      if (seller === null) {
        const waiting = yield* repo.due(now - settledMs, [])
        if (waiting.length > 0)
          yield* Effect.logWarning("no invoices are issued: say who sells with `operator invoice seller`", {
            tenants: waiting.length
          })
        return
      }
      // Each round takes the next month of each tenant, until no tenant has one. A failure for one tenant does not stop
      // the others.
      const failed = new Set<Id.TenantId>()
      for (;;) {
        const due = yield* repo.due(now - settledMs, [...failed])
        for (const one of due)
          yield* Effect.catchCause(issue(one, seller, now), (cause) => {
            failed.add(one.tenantId)
            return Outage.logged("an invoice could not be issued", cause, { tenantId: one.tenantId })
          })
        if (due.length === 0) break
      }
      let after: Id.TenantId | null = null
      while (true) {
        const owing: ReadonlyArray<Id.TenantId> = yield* repo.owing(after)
        for (const tenantId of owing)
          yield* Effect.catchCause(settle(tenantId, now), (cause) =>
            Outage.logged("payments could not be applied to invoices", cause, { tenantId })
          )
        after = owing.at(-1) ?? null
        if (after === null) return
      }
    })
  })

const dollars = (cents: number): string => `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`

export const statusLine = (of: {
  readonly tenantId: Id.TenantId
  readonly id: Id.InvoiceId
  readonly at: number
  readonly actor: Audit.Actor
  readonly to: "paid" | "void" | "uncollectible"
}) =>
  Audit.line({
    tenantId: of.tenantId,
    at: of.at,
    seed: of.id,
    actor: of.actor,
    action: "invoice.status_changed",
    resourceId: of.id,
    changes: [{ field: "status", from: "open", to: of.to }]
  })
