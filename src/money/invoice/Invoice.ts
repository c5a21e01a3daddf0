import { Clock, Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as SignedLink from "../../runtime/store/vault/SignedLink.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as InvoiceRepo from "./InvoiceRepo.ts"
import { type InvoiceRow, type InvoiceView, type Party, view } from "./InvoiceView.ts"
import * as Issue from "./Issue.ts"

export { Drawing, NotDrawn } from "./Drawing.ts"
export type { InvoiceRow, Party } from "./InvoiceView.ts"
export { Invoice as View, statuses } from "./InvoiceView.ts"
export type { Line } from "./Statement.ts"

/** The path of invoice files. */
export const filePath = "/invoices/"
const purpose = "download of invoices"
const fileName = /^(svc_inv_[0-9a-f]{32})\.pdf$/u

/** How long a link in an answer is valid; `letterLinkMs` is that of a link in a letter. */
const linkMs = 600_000
const letterLinkMs = 30 * 86_400_000

const kind = "invoice.issuing"
const everyMs = 3_600_000
const timeoutMs = 1_800_000
const retry = { attempts: 3, firstMs: 60_000, maxMs: 600_000 }

/** Invoices, guide/money.md#invoices: a statement of each UTC month with bookings, frozen when it is issued. */
export class Invoices extends Context.Service<
  Invoices,
  {
    readonly list: (
      tenantId: Id.TenantId,
      filters: InvoiceRepo.Filters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<InvoiceView>>
    readonly find: (tenantId: Id.TenantId, id: Id.InvoiceId) => Effect.Effect<InvoiceView, ApiError>
    /** The invoice whose file a link leads to now; null when it leads to none. */
    readonly linked: (link: SignedLink.Link) => Effect.Effect<InvoiceRow | null>
    /** Issues the invoices that are due. The job does it by itself. */
    readonly issue: Effect.Effect<void>
    /** Null while no seller is set; then no invoice is issued. */
    readonly seller: Effect.Effect<Party | null>
    /** Applies to invoices that are issued from now on. */
    readonly setSeller: (party: Party) => Effect.Effect<void>
    readonly buyer: (tenantId: Id.TenantId) => Effect.Effect<Party>
    readonly setBuyer: (tenantId: Id.TenantId, party: Party) => Effect.Effect<void>
    /**
     * The operator gives up an open invoice; `conflict` for any other. It changes no balance. `number` is for example
     * `INV-00000042`.
     */
    readonly give: (number: string, status: "void" | "uncollectible") => Effect.Effect<InvoiceView, ApiError>
  }
>()("trunkline/invoice/Invoices") {
  static readonly layer = (options: { readonly baseUrl: string }) =>
    Layer.effect(
      Invoices,
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const jobs = yield* Jobs
        const vault = yield* Vault
        const entropy = yield* Entropy
        const repo = yield* InvoiceRepo.make
        const linkOf = (id: Id.InvoiceId, untilMs: number) =>
          `${options.baseUrl}${filePath}${id}.pdf?${SignedLink.sign(vault.keys(), purpose, `${id}.pdf`, untilMs)}`
        const round = yield* Issue.make({ repo, link: (id, now) => linkOf(id, now + letterLinkMs) })
        const issue = Effect.flatMap(Clock.currentTimeMillis, round)
        jobs.declare({ kind, concurrency: 1, timeoutMs, retry, everyMs, run: () => issue })

        const shown = (row: InvoiceRow, now: number) => view(row, linkOf(row.id, now + linkMs))
        const required = (row: InvoiceRow | null) =>
          row === null ? Effect.fail(ApiError.of("not_found", "no such invoice")) : Effect.succeed(row)

        const party = Effect.fnUntraced(function* (
          tenantId: Id.TenantId | null,
          before: Party | null,
          after: Party,
          at: number
        ) {
          const fields = ["name", "address", "taxId", "email"] as const
          return Audit.line({
            tenantId,
            at,
            seed: entropy.hex(16),
            actor: yield* Audit.operator,
            action: tenantId === null ? "invoice_seller.changed" : "invoice_buyer.changed",
            resourceId: tenantId ?? "seller",
            changes: fields.map((field) => ({
              field: field === "taxId" ? "tax_id" : field,
              from: before?.[field] ?? null,
              to: after[field]
            }))
          })
        })

        return Invoices.of({
          list: Effect.fn("Invoices.list")(function* (tenantId, filters, window) {
            const now = yield* Clock.currentTimeMillis
            return yield* repo.list(tenantId, filters, window, (row) => shown(row, now))
          }),
          find: Effect.fn("Invoices.find")(function* (tenantId, id) {
            const row = yield* Effect.flatMap(repo.find(id, tenantId), required)
            return shown(row, yield* Clock.currentTimeMillis)
          }),
          linked: Effect.fn("Invoices.linked")(function* (link) {
            const [, id] = fileName.exec(link.file) ?? []
            const now = yield* Clock.currentTimeMillis
            return id !== undefined && Id.is("inv", id) && SignedLink.holds(vault.keys(), purpose, link, now)
              ? yield* repo.find(id, null)
              : null
          }),
          issue,
          seller: repo.seller,
          setSeller: Effect.fn("Invoices.setSeller")(function* (seller) {
            const at = yield* Clock.currentTimeMillis
            yield* Effect.gen(function* () {
              const line = yield* party(null, yield* repo.seller, seller, at)
              yield* repo.setSeller(seller, at)
              yield* journal.commitWithin({ ...empty, audit: [line] })
            }).pipe(transaction)
          }),
          buyer: (tenantId) => repo.buyer(tenantId),
          setBuyer: Effect.fn("Invoices.setBuyer")(function* (tenantId, buyer) {
            const at = yield* Clock.currentTimeMillis
            yield* Effect.gen(function* () {
              const line = yield* party(tenantId, yield* repo.buyer(tenantId), buyer, at)
              yield* repo.setBuyer(tenantId, buyer, at)
              yield* journal.commitWithin({ ...empty, audit: [line] })
            }).pipe(transaction)
          }),
          give: Effect.fn("Invoices.give")(function* (number, status) {
            const at = yield* Clock.currentTimeMillis
            const [, digits] = /^INV-([0-9]{8,15})$/u.exec(number) ?? []
            const found = digits === undefined ? null : yield* repo.byNumber(Number(digits))
            if (found === null) return yield* ApiError.of("not_found", "no such invoice")
            const isChanged = yield* Effect.gen(function* () {
              if (!(yield* repo.giveUp(found.id, status))) return false
              const line = Issue.statusLine({ ...found, at, actor: yield* Audit.operator, to: status })
              yield* journal.commitWithin({ ...empty, audit: [line] })
              return true
            }).pipe(transaction)
            if (!isChanged) return yield* ApiError.of("conflict", "only an open invoice can be given up")
            const row = yield* Effect.flatMap(repo.find(found.id, null), required)
            return shown(row, at)
          })
        })
      })
    )
}
