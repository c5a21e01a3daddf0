import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import { jsonOf, layer as world, operator, operatorIn, Recorded, signup } from "../OperatorWorld.ts"

interface Line {
  readonly actor: string
  readonly action: string
  readonly changes: ReadonlyArray<{ readonly field: string; readonly to: unknown }>
}

const lines = (...args: ReadonlyArray<string>) =>
  Effect.map(
    operator("audit", "list", ...args, "--json"),
    (outcome) => jsonOf(outcome)["results"] as ReadonlyArray<Line>
  )

const changesOf = (line: Line | undefined) =>
  Object.fromEntries((line?.changes ?? []).map(({ field, to }) => [field, to] as const))

layer(world, { excludeTestServices: true })("operators with names (guide/operation.md#operators)", (it) => {
  it.effect("each command's audit lines name the person, also where an actor writes them", () =>
    Effect.gen(function* () {
      yield* signup("named")
      const alice = { OPERATOR_NAME: "alice" }
      const credit = ["tenant", "credit", "named", "--cents", "700", "--reason", "an apology"]
      for (const args of [
        credit,
        ["tenant", "quota", "named", "--daily", "5000", "--credit-limit", "100"],
        ["tenant", "suspend", "named"],
        ["tenant", "reactivate", "named"],
        ["key", "issue", "named", "--name", "rescue", "--scopes", "calls:read"],
        ["destinations", "block-country", "CU", "--tenant", "named"]
      ])
        expect([args, (yield* operatorIn(alice, ...args)).stderr]).toEqual([args, ""])
      const found = yield* lines("--tenant", "named", "--actor-type", "operator")
      expect(found.map(({ actor }) => actor)).toEqual(found.map(() => "operator alice"))
      expect(found.length).toBeGreaterThanOrEqual(7)
      expect(changesOf(found.find(({ action }) => action === "balance.adjusted"))).toEqual({
        amount_cents: 700,
        reason: "an apology"
      })
      // The user that runs the command is named where there is no other name, and a bad name is refused.
      yield* operatorIn({ USER: "bob" }, ...credit)
      expect((yield* lines("--tenant", "named", "--limit", "1"))[0]?.actor).toBe("operator bob")
      const bad = yield* operatorIn({ OPERATOR_NAME: "Ann Ö" }, ...credit)
      expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("(invalid_request)")])
    })
  )

  it.effect("a token of one's own names its person, whatever the command says, until it is removed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* signup("own-token")
      const added = jsonOf(yield* operator("operator", "add", "carol", "--json"))
      const carol = { OPERATOR_TOKEN: String(added["token"]), OPERATOR_NAME: "somebody-else" }
      expect((yield* operator("operator", "add", "carol")).code).toBe(1)
      const credit = ["tenant", "credit", "own-token", "--cents", "1", "--reason", "r"]
      expect((yield* operatorIn(carol, ...credit)).stderr).toBe("")
      expect((yield* lines("--tenant", "own-token", "--limit", "1"))[0]?.actor).toBe("operator carol")
      expect((yield* operator("operator", "list")).stdout).toContain("carol")
      const stored = yield* sql<{ readonly text: string }>`
        SELECT (SELECT string_agg(to_jsonb(o)::text, '') FROM operator_token o)
          || (SELECT string_agg(to_jsonb(a)::text, '') FROM audit a) AS text`
      expect(stored[0]?.text).not.toContain(added["token"])

      expect((yield* operator("operator", "remove", "carol")).code).toBe(0)
      const refused = yield* operatorIn(carol, ...credit)
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("(invalid_credentials)")])
      expect((yield* operator("operator", "remove", "carol")).code).toBe(1)
      expect((yield* lines("--resource-type", "operator")).map(({ action }) => action)).toEqual([
        "operator.removed",
        "operator.added"
      ])
    })
  )

  it.effect("audit lines carry the prices of an import of numbers", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Recorded
      const file = join(dataDir, "numbers.csv")
      writeFileSync(
        file,
        [
          "phone_number,country_code,number_type,upfront_cost_cents,monthly_cost_cents",
          "+12025550171,US,local,0,150",
          "+12025550172,US,local,0,150",
          "+12025550173,US,local,300,250"
        ].join("\n")
      )
      expect((yield* operator("numbers", "import", file)).stderr).toBe("")
      const [line] = yield* lines("--action", "inventory.imported")
      expect(changesOf(line)["prices"]).toEqual([
        { upfront_cost_cents: 0, monthly_cost_cents: 150, numbers: 2 },
        { upfront_cost_cents: 300, monthly_cost_cents: 250, numbers: 1 }
      ])
    })
  )
})

layer(world, { excludeTestServices: true })("a command that moves money, with --idempotency-key", (it) => {
  it.effect("tenant credit books once for a key, and refuses the key for something else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* signup("keyed")
      yield* signup("keyed-too")
      const credit = (slug: string, cents: number, key: string, reason = "r") =>
        operator("tenant", "credit", slug, "--cents", String(cents), "--reason", reason, "--idempotency-key", key)
      const all = yield* Effect.all(
        Array.from({ length: 5 }, () => credit("keyed", 100, "one")),
        { concurrency: "unbounded" }
      )
      expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(all.map(() => [0, ""]))
      for (const other of [credit("keyed", 101, "one"), credit("keyed", 100, "one", "another")]) {
        const { code, stderr } = yield* other
        expect([code, stderr]).toEqual([1, expect.stringContaining("(idempotency_conflict)")])
      }
      // Another key, and the same key of another tenant, are others.
      yield* credit("keyed", 100, "two")
      yield* credit("keyed-too", 100, "one")
      const [row] = yield* sql<{ readonly cents: number; readonly lines: number }>`
        SELECT balance_cents::int AS cents, (SELECT count(*)::int FROM audit
          WHERE tenant_id = ${tenantId} AND action = 'balance.adjusted') AS lines
        FROM balance WHERE tenant_id = ${tenantId}`
      expect(row).toEqual({ cents: 700, lines: 2 })
    })
  )

  it.effect("payment refund refunds once for a key, and shows that refund again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const funding = yield* Funding
      const caller = yield* signup("refunded")
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      yield* funding.topUp(caller, { amountCents: 2_000, paymentMethodId: null }, null)
      const [attempt] = yield* funding.attempts(caller.tenantId, 1)
      const refund = (key: string, ...cents: ReadonlyArray<string>) =>
        operator("payment", "refund", attempt?.id ?? "", ...cents, "--idempotency-key", key, "--json")
      const first = jsonOf(yield* refund("one", "--cents", "500"))
      expect(first).toMatchObject({ amount_cents: 500, status: "succeeded" })
      expect(jsonOf(yield* refund("one", "--cents", "500"))).toEqual(first)
      const other = yield* refund("one", "--cents", "501")
      expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("(idempotency_conflict)")])
      const rest = jsonOf(yield* refund("two"))
      expect(rest).toMatchObject({ amount_cents: 1_500 })
      expect(jsonOf(yield* refund("two"))).toEqual(rest)
      expect(yield* sql`SELECT FROM payment_refund WHERE tenant_id = ${caller.tenantId}`).toHaveLength(2)
    })
  )
})
