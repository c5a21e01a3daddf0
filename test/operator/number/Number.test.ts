import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Numbers } from "../../../src/number/Number.ts"
import { jsonOf, layer as world, operator, signup } from "../OperatorWorld.ts"

const phone = "+12025550160"
const request = (phoneNumber: string) => ({
  phoneNumbers: [phoneNumber],
  countryCode: "US",
  numberType: "local" as const,
  routeId: null,
  customerReference: null
})

const refusal = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { code, stderr } = yield* operator("number", ...args)
  return [code, /\(([a-z_]+)\)$/.exec(stderr)?.[1]]
})

describe("a number in an incident (guide/operation.md#keys-and-numbers)", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("is shown with its tenant, taken from it with an audit line, and can be ordered by another", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const sql = yield* SqlClient.SqlClient
        const owner = yield* signup("owner")
        const next = yield* signup("next")
        yield* numbers.order(owner, request(phone), null)
        expect(jsonOf(yield* operator("number", "show", phone, "--json"))).toMatchObject({
          tenant_id: owner.tenantId,
          phone_number: phone,
          status: "active"
        })
        expect(yield* numbers.owned(owner.tenantId, phone)).toBe(true)
        const released = jsonOf(yield* operator("number", "release", phone, "--reason", "fraud", "--json"))
        expect(released).toMatchObject({ tenant_id: owner.tenantId, status: "released", next_renewal_at: null })
        expect(yield* numbers.owned(owner.tenantId, phone)).toBe(false)
        expect(yield* numbers.byDialled(phone)).toBeNull()
        const lines = yield* sql`
          SELECT tenant_id::text AS tenant, actor_type AS actor, action, changes FROM audit
          WHERE resource_id = ${String(released["id"])} AND action = 'number.released'`
        expect(lines).toEqual([
          {
            tenant: owner.tenantId,
            actor: "operator",
            action: "number.released",
            changes: [
              { field: "status", from: "active", to: "released" },
              { field: "reason", from: null, to: "fraud" }
            ]
          }
        ])
        yield* numbers.order(next, request(phone), null)
        expect(yield* numbers.owned(next.tenantId, phone)).toBe(true)
      })
    )

    it.effect("is not released when nobody has it, when it is pending, or twice", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const numbers = yield* Numbers
        expect(yield* refusal("release", "+12025550199")).toEqual([1, "number_not_found"])
        expect(yield* refusal("show", "+12025550199")).toEqual([1, "number_not_found"])
        expect(yield* refusal("release", "12025550199")).toEqual([1, "invalid_request"])
        const owner = yield* signup("waiting")
        yield* numbers.order(owner, request("+12025550161"), null)
        yield* sql`UPDATE phone_number SET status = 'pending' WHERE phone_number = '+12025550161'`
        expect(yield* refusal("release", "+12025550161")).toEqual([1, "number_not_yet_active"])
        yield* sql`UPDATE phone_number SET status = 'active' WHERE phone_number = '+12025550161'`
        expect((yield* operator("number", "release", "+12025550161")).code).toBe(0)
        expect(yield* refusal("release", "+12025550161")).toEqual([1, "number_not_found"])
      })
    )
  })
})
