import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { Conferences } from "../../../../src/telephony/conference/Conference.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import * as ApiKeyHandlers from "../../../../src/edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../../src/edge/http/request/RateLimit.ts"
import * as Server from "../../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../../src/runtime/idempotency/Idempotency.ts"
import { Webhooks } from "../../../../src/webhook/Webhook.ts"
import * as Features from "../../../support/service/Features.ts"
import * as TestServer from "../TestServer.ts"
import * as FakeSpeech from "../../../support/fake/FakeSpeech.ts"

/** The HTTP surface over the real doors and a database. Calls and webhooks have separate suites. */
const served = Server.layer({ host: "127.0.0.1", port: 0, graceMs: 2_000 }).pipe(
  Layer.provide([
    Layer.mock(Calls)({}),
    Layer.mock(Conferences)({}),
    Layer.mock(Webhooks)({}),
    ApiKeyHandlers.authenticator,
    Idempotency.layer,
    ClientAddress.layer("none"),
    FakeSpeech.layer,
    RateLimit.layer({ signupPerHour: 50 }),
    Layer.succeed(BaseUrl, "https://api.example.com")
  ]),
  Layer.provideMerge(Features.layer)
)

type Json = Readonly<Record<string, unknown>>

const ask = (method: string, path: string, asked: TestServer.Asked = {}) =>
  Effect.flatMap(Server.Listening, ({ port }) =>
    Effect.promise(() => TestServer.send(port, method, path, { key: null, ...asked }))
  )
const refusal = (method: string, path: string, asked: TestServer.Asked) =>
  Effect.map(ask(method, path, asked), (answer) => [answer.status, TestServer.codeOf(answer)])

let count = 0
const form = (fields: Json = {}) => ({
  email: `wire${++count}@example.com`,
  password: "correct horse battery",
  tenant_name: "Wire",
  first_name: "Ada",
  last_name: "Lovelace",
  ...fields
})
const signUp = Effect.map(
  Effect.suspend(() => ask("POST", "/v1/signup", { body: form() })),
  (answer) => {
    expect(answer.status).toBe(201)
    const body = answer.json as {
      readonly api_key_plaintext: string
      readonly api_key: { readonly id: string }
      readonly tenant: { readonly id: TenantId }
    }
    return { key: body.api_key_plaintext, keyId: body.api_key.id, tenantId: body.tenant.id }
  }
)

type SignedUp = Effect.Success<typeof signUp>
let shared: SignedUp | undefined
/** One tenant serves all refusals, which leave no trace, because a signup costs a password hash. */
const sharedTenant = Effect.suspend(() =>
  shared === undefined ? Effect.tap(signUp, (made) => Effect.sync(() => void (shared = made))) : Effect.succeed(shared)
)

describe("a new tenant over HTTP", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("signs up and sees its account, quota, key and route with what it was given", () =>
      Effect.gen(function* () {
        const { key, keyId, tenantId } = yield* signUp
        const account = (yield* ask("GET", "/v1/account", { key })).json as Readonly<Record<string, Json>>
        expect(account["tenant"]).toMatchObject({ id: tenantId, name: "Wire", status: "active", currency: "USD" })
        expect(account["balance"]).toMatchObject({
          balance_cents: 500,
          credit_limit_cents: 0,
          auto_recharge_threshold_cents: null
        })
        expect(account["quota"]).toStrictEqual({
          daily_spend_cap_cents: 10_000,
          monthly_spend_cap_cents: 100_000,
          concurrent_call_limit: 10,
          allow_caller_id_forwarding: false
        })
        const quota = (yield* ask("GET", "/v1/quota/", { key })).json as Json
        expect(quota).toMatchObject({ daily_spend_cents: 0, concurrent_calls: 0 })
        expect(String(quota["monthly_resets_at"])).toMatch(/-01T00:00:00\.000Z$/)
        const keys = (yield* ask("GET", "/v1/api-keys/", { key })).json as { readonly results: ReadonlyArray<Json> }
        expect(keys.results.map(({ id, scopes }) => [id, scopes])).toStrictEqual([[keyId, ["*"]]])
        const routes = (yield* ask("GET", "/v1/connections", { key })).json as { readonly results: ReadonlyArray<Json> }
        expect(routes.results.map((route) => route["is_default"])).toStrictEqual([true])
      })
    )

    it.effect("gets the same bytes again for the same Idempotency-Key, and one tenant", () =>
      Effect.gen(function* () {
        const body = form({ tenant_name: "Once" })
        const headers = { "idempotency-key": "signup-1" }
        const first = yield* ask("POST", "/v1/signup", { body, headers })
        const again = yield* ask("POST", "/v1/signup/", { body, headers })
        expect(again.headers["idempotent-replayed"]).toBe("true")
        expect([again.status, again.text]).toStrictEqual([201, first.text])
        expect(yield* refusal("POST", "/v1/signup", { body: { ...body, first_name: "Eve" }, headers })).toStrictEqual([
          409,
          "idempotency_conflict"
        ])
        expect(yield* refusal("POST", "/v1/signup", { body })).toStrictEqual([409, "conflict"])
      })
    )

    it.effect.each([
      { fields: { password: "short" }, code: "invalid_request" },
      { fields: { email: "nobody" }, code: "invalid_request" },
      { fields: { email: "a\u0000b@example.com" }, code: "invalid_request" },
      { fields: { email: "https://user:pw@example.com" }, code: "invalid_request" },
      { fields: { email: "ada\u202e@example.com" }, code: "invalid_request" },
      { fields: { email: "ada,eve@example.com" }, code: "invalid_request" },
      { fields: { email: '"ada lovelace"@example.com' }, code: "invalid_request" },
      { fields: { email: "ada@[192.0.2.1]" }, code: "invalid_request" },
      { fields: { email: "ada@example.com/x" }, code: "invalid_request" },
      { fields: { email: "ada..b@example.com" }, code: "invalid_request" },
      { fields: { email: "ada@-example.com" }, code: "invalid_request" },
      { fields: { email: `${"a".repeat(65)}@example.com` }, code: "invalid_request" },
      { fields: { email: `ada@${"b".repeat(64)}.example` }, code: "invalid_request" },
      { fields: { tenant_name: "" }, code: "invalid_request" },
      { fields: { first_name: "a\u0000b" }, code: "invalid_request" },
      { fields: { country: "Germany" }, code: "invalid_request" },
      { fields: { surprise: 1 }, code: "invalid_request" },
      { fields: { webhook_failover_url: "http://example.com" }, code: "invalid_target_url" }
    ])("is refused with $code for $fields", ({ code, fields }) =>
      Effect.gen(function* () {
        expect(yield* refusal("POST", "/v1/signup", { body: form(fields) })).toStrictEqual([400, code])
      })
    )

    it.effect("is by any address that mail has: tags, hyphens, every script", () =>
      Effect.gen(function* () {
        for (const email of ["Ada.Lovelace+calls@Sub-Domain.Example.co.uk", "o'hara_1@example.com", "用户@例子.公司"])
          expect([email, (yield* ask("POST", "/v1/signup", { body: form({ email }) })).status]).toStrictEqual([
            email,
            201
          ])
      })
    )

    it.effect("is refused for an address in another spelling of Unicode or of DNS, and found under each", () =>
      Effect.gen(function* () {
        const { password } = form()
        const spellings = [
          "ren\u00e9@b\u00fccher.example",
          "rene\u0301@bu\u0308cher.example",
          "REN\u00c9@XN--BCHER-KVA.example"
        ]
        const [first = "", ...others] = spellings
        const answer = yield* ask("POST", "/v1/signup", { body: form({ email: first }) })
        expect(answer.status).toBe(201)
        const { api_key_plaintext: key } = answer.json as { readonly api_key_plaintext: string }
        for (const email of others)
          expect(yield* refusal("POST", "/v1/signup", { body: form({ email }) })).toStrictEqual([409, "conflict"])
        for (const email of spellings) {
          expect((yield* ask("POST", "/v1/auth/login", { body: { email, password } })).status).toBe(200)
          const invited = { key, body: { email, role: "viewer" } }
          expect(yield* refusal("POST", "/v1/team/invitations", invited)).toStrictEqual([409, "conflict"])
        }
      })
    )

    it.effect("when suspended sees its account and nothing else", () =>
      Effect.gen(function* () {
        const { key, tenantId } = yield* signUp
        yield* (yield* Accounts).suspend(tenantId, "operator", { type: "operator", name: "test" })
        const account = yield* ask("GET", "/v1/account", { key })
        expect(account.status).toBe(200)
        expect((account.json as Readonly<Record<string, Json>>)["tenant"]).toMatchObject({
          status: "suspended",
          suspension_reason: "operator"
        })
        expect(yield* refusal("GET", "/v1/quota", { key })).toStrictEqual([403, "tenant_suspended"])
      })
    )
  })
})

describe("keys, numbers and the account over HTTP", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("creates a narrower key, which can do no more, and revokes it", () =>
      Effect.gen(function* () {
        const { key } = yield* signUp
        const made = yield* ask("POST", "/v1/api-keys/", {
          key,
          body: { name: "reader", scopes: ["numbers:read", "api_keys:write"] }
        })
        expect(made.status).toBe(201)
        const narrow = made.json as { readonly id: string; readonly api_key_plaintext: string }
        const with_ = { key: narrow.api_key_plaintext }
        expect((yield* ask("GET", "/v1/numbers", with_)).status).toBe(200)
        expect(yield* refusal("GET", "/v1/account", with_)).toStrictEqual([403, "forbidden"])
        expect(yield* refusal("POST", "/v1/api-keys/", { ...with_, body: { name: "wider" } })).toStrictEqual([
          403,
          "forbidden"
        ])
        expect(yield* refusal("POST", "/v1/api-keys/", { key, body: { name: "none", scopes: [] } })).toStrictEqual([
          400,
          "invalid_request"
        ])
        expect(
          yield* refusal("POST", "/v1/api-keys/", { key, body: { name: "old", expires_at: "2020-01-01T00:00:00Z" } })
        ).toStrictEqual([400, "invalid_request"])
        expect((yield* ask("DELETE", `/v1/api-keys/${narrow.id}`, { key })).status).toBe(204)
        expect(yield* refusal("GET", "/v1/numbers", with_)).toStrictEqual([401, "invalid_credentials"])
      })
    )

    it.effect("keeps a replayed creation's secret sealed at rest", () =>
      Effect.gen(function* () {
        const { key } = yield* signUp
        const asked = { key, body: { name: "sealed" }, headers: { "idempotency-key": "key-1" } }
        const first = yield* ask("POST", "/v1/api-keys/", asked)
        const again = yield* ask("POST", "/v1/api-keys/", asked)
        expect(again.text).toBe(first.text)
        const [row] =
          yield* (yield* SqlClient.SqlClient)`SELECT count(*)::int AS n FROM idempotency WHERE body LIKE '%svc_live_%'`
        expect(row).toStrictEqual({ n: 0 })
      })
    )

    it.effect("orders a number from the search, once for one Idempotency-Key", () =>
      Effect.gen(function* () {
        const { key } = yield* signUp
        const found = (yield* ask("GET", "/v1/numbers/available?country_code=us&limit=2&starts_with=202", { key }))
          .json as {
          readonly results: ReadonlyArray<{ readonly phone_number: string }>
        }
        expect(found.results.length).toBe(2)
        const phone = found.results[0]?.phone_number
        const asked = {
          key,
          body: { phone_numbers: [phone], country_code: "US", number_type: "local" },
          headers: { "idempotency-key": "order-1" }
        }
        const order = yield* ask("POST", "/v1/numbers/order", asked)
        expect(order.status).toBe(201)
        expect((yield* ask("POST", "/v1/numbers/order", asked)).text).toBe(order.text)
        const { id } = order.json as { readonly id: string }
        let status = "pending"
        while (status === "pending")
          status = ((yield* ask("GET", `/v1/numbers/orders/${id}`, { key })).json as { readonly status: string }).status
        expect(status).toBe("completed")
        const owned = (yield* ask("GET", "/v1/numbers?status=active&country_code=US", { key })).json as {
          readonly count: number
          readonly results: ReadonlyArray<Json>
        }
        expect(owned.count).toBe(1)
        expect(owned.results[0]?.["phone_number"]).toBe(phone)
      })
    )

    it.effect.each([
      ["GET", "/v1/numbers/available", undefined, 400, "invalid_request"],
      ["GET", "/v1/numbers/available?country_code=US&limit=101", undefined, 400, "invalid_request"],
      ["GET", "/v1/numbers/available?country_code=US&color=blue", undefined, 400, "invalid_request"],
      ["GET", "/v1/numbers/available?country_code=US&locality=%00", undefined, 400, "invalid_request"],
      ["GET", "/v1/numbers/available?country_code=DE", undefined, 422, "no_pricing_tier_configured"],
      ["GET", "/v1/numbers/toll-free/available?country_code=US", undefined, 422, "no_pricing_tier_configured"],
      ["GET", "/v1/numbers/lookup/12025550150", undefined, 400, "invalid_request"],
      ["GET", "/v1/numbers/abc", undefined, 400, "invalid_request"],
      ["GET", `/v1/numbers/svc_did_${"0".repeat(32)}`, undefined, 404, "number_not_found"],
      ["GET", `/v1/numbers/orders/svc_order_${"0".repeat(32)}`, undefined, 404, "not_found"],
      ["GET", "/v1/api-keys/abc/", undefined, 404, "not_found"],
      [
        "POST",
        "/v1/numbers/order",
        { phone_numbers: [], country_code: "US", number_type: "local" },
        400,
        "invalid_request"
      ],
      [
        "POST",
        "/v1/numbers/order",
        { phone_numbers: ["+12025550100"], country_code: "US", number_type: "local" },
        400,
        "order_invalid"
      ],
      [
        "POST",
        "/v1/numbers/order",
        { phone_numbers: ["+12025550160", "+12025550160"], country_code: "US", number_type: "local" },
        422,
        "unprocessable"
      ],
      ["PATCH", "/v1/account", { webhook_failover_url: "https://10.0.0.1/" }, 400, "invalid_target_url"],
      ["PATCH", "/v1/account", {}, 400, "invalid_request"]
    ] as const)("%s %s with %o answers %i %s", ([method, path, body, status, code]) =>
      Effect.gen(function* () {
        const { key } = yield* sharedTenant
        expect(yield* refusal(method, path, body === undefined ? { key } : { key, body })).toStrictEqual([status, code])
      })
    )

    it.effect("limits the resending of a verification by address and e-mail, and tells nothing", () =>
      Effect.gen(function* () {
        const body = { email: "stranger@example.com" }
        for (let n = 0; n < 3; n++) {
          const answer = yield* ask("POST", "/v1/auth/verify-email/resend", { body })
          expect([answer.status, answer.text]).toStrictEqual([202, "{}"])
        }
        const limited = yield* ask("POST", "/v1/auth/verify-email/resend", { body })
        expect([limited.status, TestServer.codeOf(limited)]).toStrictEqual([429, "rate_limited"])
        expect(limited.headers["retry-after"]).toBeTypeOf("string")
        expect(yield* refusal("POST", "/v1/auth/verify-email", { body: { token: "x" } })).toStrictEqual([
          400,
          "invalid_request"
        ])
      })
    )
  })
})
