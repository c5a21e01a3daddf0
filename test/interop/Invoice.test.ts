import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { SqlClient } from "effect/sql"
import { Billing } from "../../src/money/billing/Billing.ts"
import { Invoices } from "../../src/money/invoice/Invoice.ts"
import { Drawing } from "../../src/money/invoice/Invoice.ts"
import * as Features from "../support/service/Features.ts"

/** Another program, `pdftotext` of poppler, reads an invoice. */
describe("pdftotext", () => {
  it.live("reads an invoice, whose sums are those of the ledger", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invoices = yield* Invoices
      const { id } = yield* Features.newTenant()
      yield* (yield* Billing).adjust(id, 123_456, "Transfer 2026-01")
      yield* (yield* Billing).adjust(id, -789, "Correction 2026-01", "correction")
      yield* (yield* Billing).adjust(id, 999_000_000, "Advance 2026-01")
      yield* (yield* Billing).adjust(id, -987_654_321, "Large order 2026-01", "correction")
      yield* sql`UPDATE ledger SET created_at = '2026-01-15T00:00:00Z' WHERE tenant_id = ${id}`
      yield* invoices.setSeller({ name: "Łódź Telekom", address: ["ul. Piotrkowska 1"], taxId: "PL123", email: null })
      yield* invoices.issue
      const { results } = yield* invoices.list(id, {}, { limit: 1, offset: 0 })
      const link = new URL(results[0]?.pdf_url ?? "")
      const row = yield* invoices.linked({
        file: link.pathname.split("/").at(-1) ?? "",
        expires: link.searchParams.get("expires") ?? "",
        signature: link.searchParams.get("signature") ?? ""
      })
      if (row === null) return yield* Effect.die("the link leads nowhere")
      const pdf = yield* (yield* Drawing).draw(row)
      const { stdout } = spawnSync("pdftotext", ["-layout", "-", "-"], { input: pdf, encoding: "utf8" })
      const amount = (label: string) => {
        const [, text = ""] = new RegExp(`${label}\\s+(-?[0-9,]+\\.[0-9]{2})`).exec(stdout) ?? []
        return Math.round(Number(text.replaceAll(",", "")) * 100)
      }
      const [ledger] = yield* sql<{ readonly sum: number; readonly used: number }>`
        SELECT sum(amount_cents)::float8 AS sum, -sum(amount_cents) FILTER (WHERE amount_cents < 0)::float8 AS used
        FROM ledger WHERE tenant_id = ${id}`
      expect(stdout).toContain("Łódź Telekom")
      expect(stdout).toMatch(/Large order 2026-01 +1 +9,876,543\.21 +9,876,543\.21\n/u)
      expect([amount("Opening balance"), amount("Total"), amount("Closing balance")]).toEqual([
        0,
        ledger?.used,
        ledger?.sum
      ])
    }).pipe(Effect.provide(Features.layer))
  )
})
