import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeys } from "../../../../src/tenancy/apikey/ApiKey.ts"
import { jsonOf, layer as world, operator, signup } from "../OperatorWorld.ts"

const audits = Effect.fn(function* (resourceId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly line: string }>`
    SELECT actor_type || ' ' || action AS line FROM audit WHERE resource_id = ${resourceId} ORDER BY ordinal`
  return rows.map(({ line }) => line)
})

const issued = Effect.fn(function* (...args: ReadonlyArray<string>) {
  return jsonOf(yield* operator("key", "issue", ...args, "--json")) as {
    readonly id: string
    readonly api_key_plaintext: string
    readonly scopes: ReadonlyArray<string>
    readonly expires_at: string | null
  }
})

describe("keys of a tenant (guide/operation.md#keys-and-numbers)", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("are issued by the operator, shown once, and work at once", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { tenantId } = yield* signup("issued")
        const key = yield* issued("issued", "--name", "rescue", "--scopes", "calls:read, account:read")
        expect([key.scopes, key.expires_at]).toEqual([["calls:read", "account:read"], null])
        const caller = yield* keys.authenticate(key.api_key_plaintext, null)
        expect(caller).toMatchObject({ tenantId, name: "rescue", scopes: ["calls:read", "account:read"] })
        expect(yield* audits(key.id)).toEqual(["operator api_key.created"])
        const all = yield* issued("issued", "--name", "all", "--expires", "2999-01-01T00:00:00Z")
        expect([all.scopes, all.expires_at]).toEqual([["*"], "2999-01-01T00:00:00.000Z"])
        const listed = yield* operator("key", "list", "issued", "--json")
        const names = (jsonOf(listed)["results"] as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
        expect(names).toEqual(["all", "rescue", "Default"])
        expect(listed.stdout).not.toContain(key.api_key_plaintext.slice(0, 20))
      })
    )

    it.effect("are revoked by the operator: the next request is refused, and one line says so", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        yield* signup("revoked")
        const key = yield* issued("revoked", "--name", "leaked")
        yield* keys.authenticate(key.api_key_plaintext, null)
        for (let times = 0; times < 2; times++)
          expect((yield* operator("key", "revoke", "revoked", key.id)).code).toBe(0)
        expect((yield* Effect.flip(keys.authenticate(key.api_key_plaintext, null))).code).toBe("invalid_credentials")
        expect(yield* audits(key.id)).toEqual(["operator api_key.created", "operator api_key.revoked"])
      })
    )

    it.effect("are refused where the request is wrong, or the key is another tenant's", () =>
      Effect.gen(function* () {
        const { keyId } = yield* signup("other")
        yield* signup("mine")
        const refusal = Effect.fn(function* (...args: ReadonlyArray<string>) {
          const { code, stderr } = yield* operator("key", ...args)
          return [code, /\(([a-z_]+)\)$/.exec(stderr)?.[1]]
        })
        expect(yield* refusal("revoke", "mine", keyId)).toEqual([1, "not_found"])
        expect(yield* refusal("issue", "mine", "--name", "x", "--scopes", "calls:fly")).toEqual([1, "invalid_request"])
        expect(yield* refusal("issue", "mine", "--name", "x", "--expires", "soon")).toEqual([1, "invalid_request"])
        expect(yield* refusal("issue", "mine", "--name", "x", "--expires", "2001-01-01T00:00:00Z")).toEqual([
          1,
          "invalid_request"
        ])
        expect(yield* refusal("list", "nobody")).toEqual([1, "not_found"])
      })
    )
  })
})
