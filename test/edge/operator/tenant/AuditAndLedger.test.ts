import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import { jsonOf, layer as world, operator, Recorded, signup } from "../OperatorWorld.ts"

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

const resultsOf = (answer: Record<string, unknown>) => answer["results"] as Rows

layer(world, { excludeTestServices: true })("what the operator reads", (it) => {
  it.effect("audit list: the lines of a tenant, filtered and page by page, or those that are of no tenant", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* signup("audited")
      yield* signup("stranger")
      for (let n = 1; n <= 5; n++)
        yield* sql`
          INSERT INTO audit (id, tenant_id, occurred_at, actor_type, action, resource_type, resource_id, changes)
          VALUES (gen_random_uuid(), ${tenantId}, ${new Date(Date.UTC(2020, 0, n))}, 'system', 'thing.made', 'thing', ${String(n)}, '[]')`
      yield* sql`
        INSERT INTO audit (id, tenant_id, occurred_at, actor_type, action, resource_type, resource_id, changes)
        VALUES (gen_random_uuid(), NULL, now(), 'operator', 'rates.replaced', 'rates', 'all', '[]')`
      const list = (...args: ReadonlyArray<string>) => Effect.map(operator("audit", "list", ...args, "--json"), jsonOf)
      const of = ["--tenant", "audited"] as const
      const things = (answer: Record<string, unknown>) => resultsOf(answer).map(({ resource }) => resource)

      const first = yield* list(...of, "--action", "thing.made", "--limit", "2")
      expect(things(first)).toStrictEqual(["thing 5", "thing 4"])
      const second = yield* list(...of, "--action", "thing.made", "--limit", "2", "--after", String(first["next"]))
      expect(things(second)).toStrictEqual(["thing 3", "thing 2"])
      expect(
        things(
          yield* list(...of, "--created-after", "2020-01-02T00:00:00Z", "--created-before", "2020-01-05T00:00:00Z")
        )
      ).toStrictEqual(["thing 4", "thing 3"])
      expect(things(yield* list(...of, "--resource-type", "thing", "--resource-id", "3"))).toStrictEqual(["thing 3"])
      expect(resultsOf(yield* list(...of, "--actor-type", "operator"))).toStrictEqual([])
      expect(things(yield* list("--action", "rates.replaced"))).toStrictEqual(["rates all"])
      expect(things(yield* list())).not.toContain("thing 5")
      const wrong = yield* operator("audit", "list", ...of, "--after", "nowhere")
      expect([wrong.code, wrong.stderr]).toStrictEqual([1, expect.stringContaining("(invalid_request)")])
    })
  )

  it.effect("seals, reconciliations that say something new, and jobs that are tried again leave lines", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const funding = yield* Funding
      const caller = yield* signup("lines")
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      yield* funding.topUp(caller, { amountCents: 2_000, paymentMethodId: null }, null)
      expect((yield* operator("ledger", "seal")).code).toBe(0)
      for (const _ of [1, 2]) yield* operator("payment", "reconcile", "--tenant", "lines")
      yield* sql`INSERT INTO job (kind, key, partition, tenant_id, due_at, failed_at, attempt, created_at)
        VALUES ('funding.collect', 'nothing', 0, ${caller.tenantId}, NULL, now(), 9, now())`
      expect((yield* operator("job", "retry", "funding.collect", "nothing")).code).toBe(0)
      expect((yield* operator("job", "retry", "funding.collect", "nobody")).code).toBe(1)

      const list = (...args: ReadonlyArray<string>) => Effect.map(operator("audit", "list", ...args, "--json"), jsonOf)
      const of = ["--tenant", "lines"] as const
      expect(resultsOf(yield* list(...of, "--action", "ledger.sealed"))).toMatchObject([
        { actor: "system", resource: `ledger ${caller.tenantId}`, changes: [{ to: 2 }, { field: "chain_hash" }] }
      ])
      expect(resultsOf(yield* list("--action", "ledger.sealed"))).toMatchObject([{ actor: "system" }])
      expect(resultsOf(yield* list(...of, "--action", "balance.reconciled"))).toMatchObject([
        { actor: "system", changes: expect.arrayContaining([{ field: "charged_cents", from: null, to: 2_000 }]) }
      ])
      expect(resultsOf(yield* list("--action", "job.retried"))).toMatchObject([
        { actor: "operator", resource: "job funding.collect nothing" }
      ])
    })
  )

  it.effect("ledger verify asks the card processor too, and fails where it says something else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const funding = yield* Funding
      const caller = yield* signup("verified")
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      yield* funding.topUp(caller, { amountCents: 3_000, paymentMethodId: null }, null)
      const verify = operator("ledger", "verify", "--tenant", "verified", "--json")
      const sound = yield* verify
      expect([sound.code, jsonOf(sound)]).toMatchObject([
        0,
        { processor: { charged_cents: 3_000, refunded_cents: 0, difference_cents: 0 }, faults: [] }
      ])
      yield* sql`DELETE FROM development_payment WHERE customer_id = (
        SELECT customer_id FROM payment_customer WHERE tenant_id = ${caller.tenantId})`
      const wrong = yield* verify
      expect([wrong.code, jsonOf(wrong)]).toMatchObject([
        1,
        { processor: { difference_cents: -3_000 }, faults: [{ code: "processor_differs" }] }
      ])
    })
  )

  it.effect("ledger list and export: the entries of a tenant, and their sum, which is the balance", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Recorded
      yield* signup("booked")
      for (const cents of [100, -30, 7])
        yield* operator("tenant", "credit", "booked", "--cents", String(cents), "--reason", "r")
      const listed = jsonOf(yield* operator("ledger", "list", "--tenant", "booked", "--limit", "2", "--json"))
      expect(
        resultsOf(listed).map(({ amount_cents, balance_after_cents }) => [amount_cents, balance_after_cents])
      ).toStrictEqual([
        [7, 577],
        [-30, 570]
      ])
      const more = yield* operator("ledger", "list", "--tenant", "booked", "--after", String(listed["next"]), "--json")
      expect(resultsOf(jsonOf(more)).map(({ amount_cents }) => amount_cents)).toStrictEqual([100, 500])

      const file = join(dataDir, "booked.jsonl.gz")
      expect((yield* operator("ledger", "export", file, "--tenant", "booked")).code).toBe(0)
      const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n")
      const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      expect(entries.map(({ amount_cents }) => amount_cents)).toStrictEqual([500, 100, -30, 7, undefined])
      expect(entries.at(-1)).toStrictEqual({ end: true, entries: 4, sum_cents: 577 })
      // An export never replaces a file.
      expect((yield* operator("ledger", "export", file, "--tenant", "booked")).code).not.toBe(0)
    })
  )
})
