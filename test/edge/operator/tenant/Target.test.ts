import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { operator, policy, layer as world } from "../OperatorWorld.ts"

const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep("20 millis")
  })

const refuses = (host: string) => policy.rules().refusesHost(host)

describe("targets (guide/operation.md#targets)", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("are denied, allowed and freed by the operator, at once, with an audit line each", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        expect((yield* operator("targets", "deny", "Bad.Example", "--reason", "phishing")).code).toBe(0)
        expect([refuses("bad.example"), refuses("good.example")]).toEqual([true, false])
        expect((yield* operator("targets", "allow", ".partner.example")).code).toBe(0)
        expect([refuses("good.example"), refuses("a.partner.example")]).toEqual([true, false])
        const listed = yield* operator("targets", "list", "--json")
        expect(JSON.parse(listed.stdout).results).toMatchObject([
          { value: ".partner.example", verdict: "allow", reason: null },
          { value: "bad.example", verdict: "deny", reason: "phishing" }
        ])
        expect((yield* operator("targets", "remove", ".partner.example")).code).toBe(0)
        expect([refuses("good.example"), refuses("bad.example")]).toEqual([false, true])
        const lines = yield* sql`
          SELECT tenant_id AS tenant, actor_type AS actor, action, resource_id AS value FROM audit
          WHERE resource_type = 'target_rule' ORDER BY ordinal`
        expect(lines).toEqual([
          { tenant: null, actor: "operator", action: "target_rule.put", value: "bad.example" },
          { tenant: null, actor: "operator", action: "target_rule.put", value: ".partner.example" },
          { tenant: null, actor: "operator", action: "target_rule.removed", value: ".partner.example" }
        ])
        yield* operator("targets", "remove", "bad.example")
      })
    )

    it.effect("are refused when they name nothing, or have no rule", () =>
      Effect.gen(function* () {
        const wrong = yield* operator("targets", "deny", "https://a.example/")
        expect([wrong.code, wrong.stderr]).toEqual([
          1,
          "https://a.example/ is no host, no domain with a dot before it, no address and no network in CIDR (invalid_request)"
        ])
        expect(yield* operator("targets", "remove", "unknown.example")).toMatchObject({
          code: 1,
          stderr: "there is no rule for unknown.example (not_found)"
        })
      })
    )

    it.effect("that another process changed are in force soon", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(
          Effect.andThen(
            sql`INSERT INTO target_rule (value, verdict, created_at) VALUES ('198.51.100.0/24', 'deny', now())`,
            sql`UPDATE target_version SET version = version + 1`
          )
        )
        yield* until(() => refuses("198.51.100.7"))
      })
    )
  })
})
