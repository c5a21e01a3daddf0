import { describe, expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import { entryTypes } from "../../../../src/domain/EntryType.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import * as Csv from "../../../../src/domain/schema/Csv.ts"
import * as Features from "../../../support/service/Features.ts"
import { ask, keyWith, layer as served, read, refusal } from "../../../support/service/ServedFeatures.ts"

interface Entry {
  readonly id: string
  readonly type: string
  readonly amount_cents: number
  readonly balance_after_cents: number
  readonly description: string
  readonly created_at: string
}
interface Page {
  readonly count: number
  readonly next: string | null
  readonly results: ReadonlyArray<Entry>
}

/** Inserts this many entries of one cent, a second apart, the oldest first. Every seventh has another type. */
const fill = (tenantId: TenantId, entries: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Portions keep each statement within its time limit.
    for (let from = 1; from <= entries; from += 100_000)
      yield* sql`
      INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, created_at)
      SELECT 'svc_ledger_' || left(replace(${tenantId}, '-', ''), 16) || lpad(to_hex(n), 16, '0'), ${tenantId}, 'filled:' || ${tenantId} || n,
        CASE WHEN n % 7 = 0 THEN 'topup' ELSE 'adjustment' END, 1, 500 + n, 'entry ' || n,
        timestamptz '2020-01-01T00:00:00Z' + n * interval '1 second'
      FROM generate_series(${from}::int, ${Math.min(entries, from + 99_999)}::int) n ORDER BY n`
    yield* sql`UPDATE balance SET balance_cents = balance_cents + ${entries} WHERE tenant_id = ${tenantId}`
  }).pipe(Effect.orDie)

describe("balance and ledger over HTTP (guide/money.md#the-ledger)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("tell what is left and what moved it, also to a suspended tenant", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* (yield* Billing).adjust(id, -120, "a correction")
        yield* (yield* Accounts).suspend(id, "operator", { type: "operator", name: "test" })
        const balance = yield* read<object>(key, "/v1/billing/balance/")
        expect(balance).toMatchObject({ balance_cents: 380, credit_limit_cents: 0 })
        const { count, next, results } = yield* read<Page>(key, "/v1/billing/ledger")
        expect([count, next]).toEqual([2, null])
        expect(results.map((entry) => [entry.type, entry.amount_cents, entry.balance_after_cents])).toEqual([
          ["adjustment", -120, 380],
          ["adjustment", 500, 500]
        ])
        expect(results[0]).toMatchObject({ description: "a correction", reference_type: null, reference_id: null })
        expect(yield* refusal("GET", "/v1/quota", { key })).toEqual([403, "tenant_suspended"])
      })
    )

    it.effect("each ask for their scope, and show a tenant its own only", () =>
      Effect.gen(function* () {
        const { caller } = yield* Features.newTenant()
        const billing = yield* keyWith(caller, ["billing:read"])
        const usage = yield* keyWith(caller, ["usage:read"])
        for (const [path, wrong, right] of [
          ["/v1/billing/balance", usage, billing],
          ["/v1/billing/ledger", billing, usage],
          ["/v1/billing/ledger.csv", billing, usage]
        ] as const) {
          expect(yield* refusal("GET", path, { key: wrong })).toEqual([403, "forbidden"])
          expect((yield* ask("GET", path, { key: right })).status).toBe(200)
          expect(yield* refusal("GET", path, {})).toEqual([401, "authentication_required"])
        }
        expect((yield* read<Page>(usage, "/v1/billing/ledger")).count).toBe(1)
      })
    )

    it.effect("are filtered by type and by time, moments themselves left out", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* fill(id, 20)
        const list = (query: string) => read<Page>(key, `/v1/billing/ledger?${query}`)
        expect((yield* list("type=topup")).results.map(({ description }) => description)).toEqual([
          "entry 14",
          "entry 7"
        ])
        const within = "created_after=2020-01-01T00:00:05Z&created_before=2020-01-01T01:00:08%2B01:00"
        expect((yield* list(within)).results.map(({ description }) => description)).toEqual(["entry 7", "entry 6"])
        const file = yield* ask("GET", `/v1/billing/ledger.csv?type=adjustment&${within}`, { key })
        expect(file.text.split("\r\n")).toHaveLength(3)
        expect(file.text).toContain("entry 6")
        for (const type of entryTypes) expect((yield* list(`type=${type}`)).count).toBeGreaterThanOrEqual(0)
        for (const query of ["type=other", "created_after=today", "created_before=1", "surprise=1", "page_size=0"])
          expect([query, yield* refusal("GET", `/v1/billing/ledger?${query}`, { key })]).toEqual([
            query,
            [400, "invalid_request"]
          ])
        expect(yield* refusal("GET", "/v1/billing/ledger.csv?page=2", { key })).toEqual([400, "invalid_request"])
      })
    )

    it.effect("come as CSV over portions, the oldest first, and add up; what was written is no formula there", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* (yield* Billing).adjust(id, -7, '=HYPERLINK("http://evil"),"x"\n')
        yield* fill(id, 5_000)
        const { headers, text } = yield* ask("GET", "/v1/billing/ledger.csv", { key })
        expect([headers["content-type"], headers["content-disposition"]]).toEqual([
          "text/csv; charset=utf-8",
          'attachment; filename="ledger.csv"'
        ])
        const [header, ...records] = Result.getOrThrow(Csv.parse(text)).map(({ cells }) => cells)
        expect(header).toEqual([
          "id",
          "created_at",
          "type",
          "amount_cents",
          "balance_after_cents",
          "description",
          "reference_type",
          "reference_id"
        ])
        expect(records).toHaveLength(5_002)
        expect(records[1]?.slice(3, 6)).toEqual(["-7", "493", `'=HYPERLINK("http://evil"),"x"\n`])
        expect(records.reduce((sum, cells) => sum + Number(cells[3]), 0)).toBe(5_493)
        expect((yield* read<{ readonly balance_cents: number }>(key, "/v1/billing/balance")).balance_cents).toBe(5_493)
      })
    )

    it.effect(
      "page through hundreds of thousands of entries, looking at a bounded number of them for each answer",
      () =>
        Effect.gen(function* () {
          const { id, plaintext: key } = yield* Features.newTenant()
          yield* fill(id, 200_000)
          const first = yield* read<Page>(key, "/v1/billing/ledger?page_size=200")
          expect([first.count, first.results.length, first.results[0]?.description]).toEqual([
            10_000,
            200,
            "entry 200000"
          ])
          // The rows that one answer looks at contain none, so the list continues after them.
          const rare = yield* read<Page>(key, "/v1/billing/ledger?type=refund")
          expect([rare.results.length, rare.next === null]).toEqual([0, false])
          const behind = yield* read<Page>(key, String(first.next).replace("https://api.example.com", ""))
          expect(behind.results[0]?.description).toBe("entry 199800")
        }),
      60_000
    )
  })
})
