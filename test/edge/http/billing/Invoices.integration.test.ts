import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import { Invoices } from "../../../../src/money/invoice/Invoice.ts"
import * as Features from "../../../support/service/Features.ts"
import { ask, keyWith, layer as served, read, refusal } from "../../../support/service/ServedFeatures.ts"

interface Invoice {
  readonly id: string
  readonly number: string
  readonly status: string
  readonly period_start: string
  readonly opening_balance_cents: number
  readonly credits: ReadonlyArray<{ readonly type: string; readonly amount_cents: number }>
  readonly lines: ReadonlyArray<{
    readonly description: string
    readonly type: string
    readonly quantity: number
    readonly amount_cents: number
  }>
  readonly subtotal_cents: number
  readonly total_cents: number
  readonly amount_paid_cents: number
  readonly amount_due_cents: number
  readonly closing_balance_cents: number
  readonly buyer: { readonly name: string; readonly tax_id: string | null }
  readonly pdf_url: string
  readonly paid_at: string | null
}
interface Page {
  readonly count: number
  readonly results: ReadonlyArray<Invoice>
}

const seller = { name: "Łódź Telekom", address: ["ul. Piotrkowska 1", "Łódź"], taxId: "PL123", email: null }

/** Moves a tenant's entries into the past, each to the month of its description, or to the one given. */
const book = (
  tenantId: TenantId,
  entries: ReadonlyArray<readonly [at: string, type: string, cents: number, what?: string]>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [index, [at, type, cents, what = "an entry"]] of entries.entries()) {
      const name = `${tenantId} ${at} ${index} ${cents}`
      yield* sql`
        INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, reference_type,
          created_at)
        SELECT 'svc_ledger_' || md5(${name}), ${tenantId}, ${`${/^(included|correction)/.exec(what)?.[0] ?? "made"}:${name}`}, ${type}, ${cents},
          balance_cents + ${cents}::int, ${what}, ${what.includes("card") ? "topup" : null}, ${at}::text::timestamptz FROM balance WHERE tenant_id = ${tenantId}`
      yield* sql`UPDATE balance SET balance_cents = balance_cents + ${cents} WHERE tenant_id = ${tenantId}`
    }
  }).pipe(Effect.orDie)

/** A tenant whose trial credit was booked in January 2026. */
const oldTenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tenant = yield* Features.newTenant()
  yield* Effect.orDie(sql`UPDATE ledger SET created_at = '2026-01-05T00:00:00Z' WHERE tenant_id = ${tenant.id}`)
  return tenant
})

const pathOf = (url: string) => url.replace("http://localhost:8080", "")

describe("invoices (guide/money.md#invoices)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("are not issued before somebody sells, and then for every month that is over, without gaps", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        const sql = yield* SqlClient.SqlClient
        const { id, plaintext: key } = yield* oldTenant
        yield* book(id, [
          ["2026-01-31T23:59:59.999Z", "call_charge", -30],
          ["2026-01-31T23:59:59.999Z", "call_charge", -12],
          ["2026-02-01T00:00:00Z", "topup", 2_000],
          ["2026-02-10T00:00:00Z", "number_order", -100, "Number +12025550150"],
          ["2026-02-11T00:00:00Z", "refund", 100, "Refund of +12025550150"],
          ["2026-02-12T00:00:00Z", "call_charge", -55],
          ["2026-02-12T00:00:01Z", "adjustment", 20, "included minutes"],
          ["2026-02-20T00:00:00Z", "refund", -500, "Back to the card"],
          ["2026-05-01T00:00:00Z", "call_charge", -5]
        ])
        yield* invoices.issue
        expect((yield* read<Page>(key, "/v1/billing/invoices")).count).toBe(0)
        yield* invoices.setSeller(seller)
        yield* invoices.issue
        yield* invoices.issue
        const { count, results } = yield* read<Page>(key, "/v1/billing/invoices/")
        expect(count).toBe(3)
        expect(
          results.map((one) => [
            one.period_start,
            one.opening_balance_cents,
            one.total_cents,
            one.closing_balance_cents
          ])
        ).toEqual([
          ["2026-05-01T00:00:00.000Z", 1_923, 5, 1_918],
          ["2026-02-01T00:00:00.000Z", 458, 35, 1_923],
          ["2026-01-01T00:00:00.000Z", 0, 42, 458]
        ])
        const february = results[1]
        expect(february?.lines.map(({ amount_cents, description }) => [description, amount_cents])).toEqual([
          ["Number +12025550150", 100],
          ["Refund of +12025550150", -100],
          ["Calls", 55],
          ["Included in the plan", -20]
        ])
        expect(february?.credits.map(({ amount_cents, type }) => [type, amount_cents])).toEqual([
          ["topup", 2_000],
          ["refund", -500]
        ])
        expect(results.map(({ status }) => status)).toEqual(["paid", "paid", "paid"])
        const numbers = yield* sql<{
          readonly number: number
        }>`SELECT number FROM invoice ORDER BY number`
        expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => index + 1))
        const lines = yield* sql`SELECT 1 FROM audit WHERE tenant_id = ${id} AND action = 'invoice.issued'`
        expect(lines).toHaveLength(3)
      })
    )

    it.effect("count refunds and disputes of top-ups among the payments, and not as use of the service", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* book(id, [
          ["2026-01-10T00:00:00Z", "topup", 3_000],
          ["2026-01-11T00:00:00Z", "call_charge", -70],
          ["2026-01-12T00:00:00Z", "adjustment", -3_000, "Payment disputed by the cardholder"],
          ["2026-01-13T00:00:00Z", "refund", -200, "Refund to the card"],
          ["2026-01-14T00:00:00Z", "refund", 200, "The refund did not reach the card"],
          ["2026-01-15T00:00:00Z", "adjustment", -5, "correction of a rate"]
        ])
        yield* invoices.issue
        const [one] = (yield* read<Page>(key, "/v1/billing/invoices")).results
        expect(one?.lines.map(({ amount_cents, description }) => [description, amount_cents])).toEqual([
          ["Calls", 70],
          ["correction of a rate", 5]
        ])
        expect(one?.credits.map(({ amount_cents }) => amount_cents).toSorted((a, b) => a - b)).toEqual([
          -3_000, -200, 200, 500, 3_000
        ])
        expect([one?.total_cents, one?.closing_balance_cents]).toEqual([75, 425])
      })
    )

    it.effect("take money that is paid out by bank for no sale, and the correction of a charge for no payment", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const invoices = yield* Invoices
        const billing = yield* Billing
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* book(id, [
          ["2026-01-10T00:00:00Z", "topup", 50_000],
          ["2026-01-11T00:00:00Z", "call_charge", -10_000]
        ])
        yield* billing.adjust(id, -30_000, "paid out by bank")
        yield* billing.adjust(id, 700, "transfer of the tenant")
        yield* billing.adjust(id, 250, "wrong rate on the 11th", "correction")
        yield* billing.adjust(id, -50, "forgotten fee", "correction")
        yield* sql`UPDATE ledger SET created_at = '2026-01-20T00:00:00Z' WHERE tenant_id = ${id} AND created_at > '2026-02-01T00:00:00Z'`
        yield* invoices.issue
        const [one] = (yield* read<Page>(key, "/v1/billing/invoices")).results
        expect(one?.lines.map(({ amount_cents, description }) => [description, amount_cents])).toEqual([
          ["Calls", 10_000],
          ["wrong rate on the 11th", -250],
          ["forgotten fee", 50]
        ])
        expect(one?.credits.map(({ amount_cents }) => amount_cents).toSorted((a, b) => a - b)).toEqual([
          -30_000, 500, 700, 50_000
        ])
        expect([one?.total_cents, one?.closing_balance_cents, one?.status]).toEqual([9_800, 11_400, "paid"])
      })
    )

    it.effect("are paid in parts, the oldest open one first, and a payment that went back is owed again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const invoices = yield* Invoices
        const billing = yield* Billing
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* sql`UPDATE balance SET credit_limit_cents = 100000 WHERE tenant_id = ${id}`
        yield* book(id, [
          ["2026-01-20T00:00:00Z", "call_charge", -700],
          ["2026-02-20T00:00:00Z", "call_charge", -300],
          ["2026-03-20T00:00:00Z", "call_charge", -400]
        ])
        const shown = Effect.gen(function* () {
          yield* invoices.issue
          const { results } = yield* read<Page>(key, "/v1/billing/invoices")
          return results
            .toReversed()
            .map((one) => [one.total_cents, one.amount_paid_cents, one.amount_due_cents, one.status])
        })
        expect(yield* shown).toEqual([
          [700, 500, 200, "open"],
          [300, 0, 300, "open"],
          [400, 0, 400, "open"]
        ])
        // The use of the present month is in no invoice yet, so no payment reaches it before the invoices.
        yield* billing.adjust(id, -1_000, "use of this month", "correction")
        yield* billing.adjust(id, 150, "paid by transfer")
        expect((yield* shown)[0]).toEqual([700, 650, 50, "open"])
        yield* billing.adjust(id, 100, "paid by transfer")
        const afterTwo = [
          [700, 700, 0, "paid"],
          [300, 50, 250, "open"],
          [400, 0, 400, "open"]
        ]
        expect(yield* shown).toEqual(afterTwo)
        expect(yield* shown).toEqual(afterTwo)
        yield* billing.adjust(id, -20, "went back")
        expect((yield* shown).slice(0, 2)).toEqual([
          [700, 700, 0, "paid"],
          [300, 30, 270, "open"]
        ])
        yield* billing.adjust(id, 670, "paid by transfer")
        expect((yield* shown).map(([, , due, status]) => [due, status])).toEqual([
          [0, "paid"],
          [0, "paid"],
          [0, "paid"]
        ])
      })
    )

    it.effect("show nothing due when they are void, and leave payments to those that are open", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        const billing = yield* Billing
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* book(id, [
          ["2026-01-20T00:00:00Z", "call_charge", -600],
          ["2026-02-20T00:00:00Z", "call_charge", -700],
          ["2026-03-20T00:00:00Z", "call_charge", -300]
        ])
        const shown = Effect.gen(function* () {
          yield* invoices.issue
          const { results } = yield* read<Page>(key, "/v1/billing/invoices")
          return results.toReversed().map((one) => [one.amount_paid_cents, one.amount_due_cents, one.status])
        })
        yield* invoices.issue
        const [, february, january] = (yield* read<Page>(key, "/v1/billing/invoices")).results
        const given = yield* invoices.give(january?.number ?? "", "void")
        expect([given.total_cents, given.amount_paid_cents, given.amount_due_cents]).toEqual([600, 500, 0])
        yield* invoices.give(february?.number ?? "", "uncollectible")
        expect(yield* shown).toEqual([
          [500, 0, "void"],
          [0, 700, "uncollectible"],
          [0, 300, "open"]
        ])
        yield* billing.adjust(id, 120, "paid by transfer")
        expect((yield* shown)[2]).toEqual([120, 180, "open"])
        yield* billing.adjust(id, 180, "paid by transfer")
        expect((yield* shown)[2]).toEqual([300, 0, "paid"])
        // All that was open is paid, so the rest of the debt is that of the invoices that were given up.
        yield* billing.adjust(id, 300, "paid by transfer")
        expect((yield* shown).slice(0, 2)).toEqual([
          [600, 0, "void"],
          [200, 500, "uncollectible"]
        ])
      })
    )

    it.effect("of one tenant that cannot be issued hold up nobody else's", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        const sql = yield* SqlClient.SqlClient
        yield* invoices.setSeller(seller)
        const [broken, other] = [yield* oldTenant, yield* oldTenant]
        yield* sql`UPDATE ledger SET created_at = '2025-12-05T00:00:00Z' WHERE tenant_id = ${broken.id}`
        // Its December has an invoice that covers none of its ledger.
        yield* sql`
          INSERT INTO invoice (id, tenant_id, number, status, period, period_start, period_end, through_ordinal, total_cents,
            amount_due_cents, document, issued_at)
          VALUES (${`svc_inv_${"0".repeat(32)}`}, ${broken.id}, 999999, 'void', '2025-12-01', '2025-12-01', '2025-12-01', 0, 0, 0,
            '{}', now())`
        yield* invoices.issue
        const of = (tenantId: TenantId) => sql`SELECT FROM invoice WHERE tenant_id = ${tenantId} AND status = 'paid'`
        expect([yield* of(broken.id), yield* of(other.id)].map(({ length }) => length)).toEqual([0, 1])
        yield* sql`DELETE FROM invoice WHERE tenant_id = ${broken.id}`
        yield* invoices.issue
        expect(yield* of(broken.id)).toHaveLength(1)
      })
    )

    it.effect("stay as they were issued: their seller, their buyer, an entry that was committed late", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* invoices.setBuyer(id, { name: "Acme Inc.", address: ["1 Main Street"], taxId: "US1", email: null })
        yield* invoices.issue
        yield* invoices.setBuyer(id, { name: "Other", address: [], taxId: null, email: null })
        yield* book(id, [["2026-01-20T00:00:00Z", "call_charge", -7]])
        yield* invoices.issue
        const { results } = yield* read<Page>(key, "/v1/billing/invoices")
        expect(results.map((one) => [one.period_start, one.buyer.name, one.buyer.tax_id, one.total_cents])).toEqual([
          ["2026-02-01T00:00:00.000Z", "Other", null, 7],
          ["2026-01-01T00:00:00.000Z", "Acme Inc.", "US1", 0]
        ])
      })
    )

    it.effect("are open as far as the balance did not cover them, until it does, or until they are given up", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        yield* invoices.setSeller(seller)
        const { id, plaintext: key } = yield* oldTenant
        yield* book(id, [["2026-01-20T00:00:00Z", "call_charge", -700]])
        const other = yield* oldTenant
        yield* book(other.id, [["2026-01-20T00:00:00Z", "call_charge", -600]])
        yield* invoices.issue
        const open = yield* read<Page>(key, "/v1/billing/invoices?status=open")
        expect(open.results.map((one) => [one.total_cents, one.amount_due_cents, one.paid_at])).toEqual([
          [700, 200, null]
        ])
        yield* (yield* Billing).adjust(id, 300, "paid by transfer")
        yield* invoices.issue
        const [paid] = (yield* read<Page>(key, "/v1/billing/invoices?status=paid")).results
        expect([paid?.amount_due_cents, paid?.paid_at === null]).toEqual([0, false])
        const [owed] = (yield* read<Page>(other.plaintext, "/v1/billing/invoices")).results
        expect((yield* invoices.give(owed?.number ?? "", "uncollectible")).status).toBe("uncollectible")
        expect((yield* Effect.flip(invoices.give(owed?.number ?? "", "void"))).code).toBe("conflict")
        expect((yield* Effect.flip(invoices.give("INV-99999999", "void"))).code).toBe("not_found")
        expect((yield* read<Page>(other.plaintext, "/v1/billing/invoices?status=uncollectible")).count).toBe(1)
      })
    )

    it.effect("are found by their filters, each by its tenant alone", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        yield* invoices.setSeller(seller)
        const { caller, id, plaintext: key } = yield* oldTenant
        yield* book(id, [["2026-03-20T00:00:00Z", "call_charge", -1]])
        yield* invoices.issue
        const after = (moment: string) =>
          Effect.map(read<Page>(key, `/v1/billing/invoices?period_start_after=${moment}`), ({ count }) => count)
        expect([
          yield* after("2025-12-31T00:00:00Z"),
          yield* after("2026-01-01T00:00:00Z"),
          yield* after("2026-03-01T00:00:00Z")
        ]).toEqual([2, 1, 0])
        const [one] = (yield* read<Page>(key, "/v1/billing/invoices")).results
        const path = `/v1/billing/invoices/${one?.id}`
        expect((yield* read<Invoice>(key, path)).number).toBe(one?.number)
        const other = yield* Features.newTenant()
        expect(yield* refusal("GET", path, { key: other.plaintext })).toEqual([404, "not_found"])
        expect(yield* refusal("GET", "/v1/billing/invoices/svc_call_1", { key })).toEqual([400, "invalid_request"])
        for (const query of ["status=other", "period_start_after=1", "x=1"])
          expect(yield* refusal("GET", `/v1/billing/invoices?${query}`, { key })).toEqual([400, "invalid_request"])
        const wrong = yield* keyWith(caller, ["usage:read"])
        for (const where of ["/v1/billing/invoices", path])
          expect(yield* refusal("GET", where, { key: wrong })).toEqual([403, "forbidden"])
      })
    )

    it.effect("have a PDF for who has the link, and for nobody else", () =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        yield* invoices.setSeller(seller)
        const { plaintext: key } = yield* oldTenant
        yield* invoices.issue
        const [one] = (yield* read<Page>(key, "/v1/billing/invoices")).results
        const path = pathOf(one?.pdf_url ?? "")
        const file = yield* ask("GET", path)
        expect([file.status, file.headers["content-type"], file.text.slice(0, 5)]).toEqual([
          200,
          "application/pdf",
          "%PDF-"
        ])
        expect(file.headers["content-disposition"]).toBe(`attachment; filename="${one?.number}.pdf"`)
        expect([file.headers["x-content-type-options"], file.headers["cache-control"]]).toEqual([
          "nosniff",
          "private, no-store"
        ])
        const head = yield* ask("HEAD", path)
        expect([head.status, head.text]).toEqual([200, ""])
        const url = new URL(one?.pdf_url ?? "")
        const expires = url.searchParams.get("expires") ?? ""
        for (const changed of [
          path.replace(/signature=./, "signature=z"),
          path.replace(`expires=${expires}`, `expires=${Number(expires) + 1}`),
          path.replace("svc_inv_", "svc_rec_"),
          path.replace(/\?.*/, "")
        ])
          expect([changed, ...(yield* refusal("GET", changed, {}))]).toEqual([changed, 404, "not_found"])
      })
    )
  })
})
