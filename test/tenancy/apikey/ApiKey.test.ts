import { describe, expect, it, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import * as Credential from "../../../src/tenancy/apikey/Credential.ts"
import * as VerifiedKeys from "../../../src/tenancy/apikey/VerifiedKeys.ts"
import type { ApiKeyId } from "../../../src/domain/Id.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

const created = (body: string | null) =>
  JSON.parse(body ?? "") as {
    readonly id: ApiKeyId
    readonly prefix: string
    readonly scopes: ReadonlyArray<string>
    readonly api_key_plaintext: string
  }
const plain = { name: "ci", scopes: ["*"], expiresAtMs: null }

describe("API keys (guide/authentication.md#keys)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("shows the plaintext once and keeps only a salted hash", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const sql = yield* SqlClient.SqlClient
        const { caller, id } = yield* Features.newTenant()
        const { body, status } = yield* keys.create(caller, plain, null)
        const key = created(body)
        expect(status).toBe(201)
        expect(key.api_key_plaintext).toMatch(/^svc_live_[A-Za-z0-9_-]{43}$/)
        expect(key.prefix).toBe(key.api_key_plaintext.slice(0, 16))
        expect(yield* keys.find(id, key.id)).not.toHaveProperty("api_key_plaintext")
        const [row] = yield* sql`SELECT * FROM api_key WHERE id = ${key.id}`
        expect(JSON.stringify(row).includes(key.api_key_plaintext.slice(16))).toBe(false)
        expect((yield* keys.authenticate(key.api_key_plaintext, null)).keyId).toBe(key.id)
      })
    )

    it.effect("grants known scopes that the caller holds, at least one", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { caller } = yield* Features.newTenant()
        const limited = { ...caller, scopes: ["api_keys:write", "calls:read"] }
        const refusal = (by: typeof caller, scopes: ReadonlyArray<string>) =>
          Effect.map(Effect.flip(keys.create(by, { ...plain, scopes }, null)), ({ code }) => code)
        expect(yield* refusal(caller, [])).toBe("invalid_request")
        expect(yield* refusal(caller, ["calls:fly"])).toBe("invalid_request")
        expect(yield* refusal(limited, ["calls:write"])).toBe("forbidden")
        expect(yield* refusal(limited, ["*"])).toBe("forbidden")
        expect(
          created((yield* keys.create(limited, { ...plain, scopes: ["calls:read"] }, null)).body).scopes
        ).toStrictEqual(["calls:read"])
        expect(
          created((yield* keys.create(caller, { ...plain, scopes: ["calls:read", "*"] }, null)).body).scopes
        ).toStrictEqual(["*"])
      })
    )

    it.effect("lets no key make one that lives longer, or for ever", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { caller } = yield* Features.newTenant()
        const endsAt = (yield* Clock.currentTimeMillis) + 60_000
        const make = (by: typeof caller, expiresAtMs: number | null) => keys.create(by, { ...plain, expiresAtMs }, null)
        const { id: keyId } = created((yield* make(caller, endsAt)).body)
        const short = { ...caller, keyId }
        for (const expiresAtMs of [null, endsAt + 1])
          expect(yield* Effect.flip(make(short, expiresAtMs))).toMatchObject({ code: "forbidden", param: "expires_at" })
        for (const expiresAtMs of [endsAt, endsAt - 1]) expect((yield* make(short, expiresAtMs)).status).toBe(201)
        expect((yield* make(caller, null)).status).toBe(201)
      })
    )

    it.effect("rejects a revoked key with the very next request and keeps it listed", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { caller, id } = yield* Features.newTenant()
        const key = created((yield* keys.create(caller, plain, null)).body)
        yield* keys.authenticate(key.api_key_plaintext, null)
        expect(yield* keys.revoke(caller, key.id, null)).toStrictEqual({ status: 204, body: null })
        expect((yield* Effect.flip(keys.authenticate(key.api_key_plaintext, null))).code).toBe("invalid_credentials")
        const { count, results } = yield* keys.list(id, { limit: 20, offset: 0 })
        expect(count).toBe(2)
        expect(results[0]?.id).toBe(key.id)
        const revokedAt = results[0]?.revoked_at
        expect(revokedAt).toBeTypeOf("string")
        yield* keys.revoke(caller, key.id, null)
        expect((yield* keys.find(id, key.id)).revoked_at).toBe(revokedAt)
      })
    )

    it.effect("rejects a key once it has expired, though it was verified before", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { caller } = yield* Features.newTenant()
        const now = yield* Clock.currentTimeMillis
        expect((yield* Effect.flip(keys.create(caller, { ...plain, expiresAtMs: now - 1 }, null))).code).toBe(
          "invalid_request"
        )
        const key = created((yield* keys.create(caller, { ...plain, expiresAtMs: now + 60_000 }, null)).body)
        yield* keys.authenticate(key.api_key_plaintext, null)
        const later = Object.create(yield* Clock.Clock, {
          currentTimeMillis: { value: Effect.succeed(now + 60_000) },
          currentTimeMillisUnsafe: { value: () => now + 60_000 }
        }) as Clock.Clock
        const error = yield* Effect.flip(keys.authenticate(key.api_key_plaintext, null)).pipe(
          Effect.provideService(Clock.Clock, later)
        )
        expect(error.code).toBe("invalid_credentials")
      })
    )

    it.effect("does not find, revoke or authenticate what is foreign, unknown or malformed", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const mine = yield* Features.newTenant()
        const other = yield* Features.newTenant()
        expect((yield* Effect.flip(keys.find(other.id, mine.caller.keyId))).code).toBe("not_found")
        expect((yield* Effect.flip(keys.revoke(other.caller, mine.caller.keyId, null))).code).toBe("not_found")
        expect((yield* Effect.flip(keys.find(mine.id, Ids.apiKey("not-a-uuid")))).code).toBe("not_found")
        const wrong = `${mine.plaintext.slice(0, -1)}${mine.plaintext.endsWith("A") ? "B" : "A"}`
        for (const credential of [wrong, "", "svc_live_", `${mine.plaintext}x`, "svc_live_\u0000"])
          expect((yield* Effect.flip(keys.authenticate(credential, null))).code).toBe("invalid_credentials")
        yield* keys.authenticate(mine.plaintext, null)
      })
    )

    it.effect("writes the last use once a minute at most", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const sql = yield* SqlClient.SqlClient
        const { caller, plaintext } = yield* Features.newTenant()
        const used = Effect.map(
          sql<{ readonly ip: string | null }>`SELECT last_used_ip AS ip FROM api_key WHERE id = ${caller.keyId}`,
          (rows) => rows[0]?.ip ?? null
        )
        while ((yield* used) === null) yield* Effect.sleep("2 millis")
        yield* keys.authenticate(plaintext, "198.51.100.7")
        yield* Effect.sleep("20 millis")
        expect(yield* used).toBe("192.0.2.1")
      })
    )

    it.effect("knows a tenant's status from memory and hears of its change", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const accounts = yield* Accounts
        const { id } = yield* Features.newTenant()
        expect(yield* keys.tenantStatus(id)).toBe("active")
        yield* accounts.suspend(id, "operator", { type: "operator", name: "test" })
        expect(yield* keys.tenantStatus(id)).toBe("suspended")
      })
    )
  })
})

describe("VerifiedKeys", () => {
  const credential = (n: number) => Credential.make(new Uint8Array(32).fill(n))
  const key = (n: number) => ({
    id: Ids.apiKey(`k${n}`),
    tenantId: Ids.tenant("t"),
    name: "",
    scopes: [],
    member: null,
    expiresAt: null,
    usedAt: 0
  })

  it("forgets the oldest beyond its capacity", () => {
    const keys = VerifiedKeys.make(2)
    for (const n of [1, 2, 3]) keys.remember(credential(n), key(n), keys.generation())
    expect([1, 2, 3].map((n) => keys.find(credential(n))?.id)).toStrictEqual([undefined, "k2", "k3"])
  })

  it("does not remember what was read before a revocation", () => {
    const keys = VerifiedKeys.make(2)
    const since = keys.generation()
    keys.revoke(Ids.apiKey("k1"))
    keys.remember(credential(1), key(1), since)
    expect(keys.find(credential(1))).toBeNull()
  })
})
