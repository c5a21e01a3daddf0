import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import type { LedgerEntryId, TenantId } from "../../../src/domain/Id.ts"
import { Funding } from "../../../src/money/funding/Funding.ts"
import { Proofs } from "../../../src/money/proof/Proof.ts"
import * as Load from "../../../src/runtime/store/backup/Load.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import * as Features from "../../support/service/Features.ts"
import * as Service from "../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as TestServer from "../../edge/http/TestServer.ts"

/**
 * A backup that version 0.1 has written while it served: two workspaces, keys, a number, a call that ended and one that
 * was talking, a card, a top-up, a plan, an invitation and a seal. `previous/0.1.jsonl` is the backup, unzipped, and
 * `previous/0.1.json` what its clients knew.
 */
interface Known {
  readonly password: string
  readonly tenant: TenantId
  readonly apiKey: string
  readonly otherKey: string
  readonly secondKey: string
  readonly revokedKey: string
  readonly number: string
  readonly call: Readonly<Record<string, unknown>> & { readonly id: string; readonly legs: ReadonlyArray<object> }
  readonly liveCall: string
  readonly balanceCents: number
  readonly sealed: { readonly entries: number; readonly chain_hash: string }
}

const read = (name: string) => readFileSync(new URL(`previous/${name}`, import.meta.url), "utf8")

/** Loads the backup into an empty database. */
const restored = Effect.fnUntraced(function* (passphrase: string) {
  const url = yield* TestDatabase.empty
  const lines = read("0.1.jsonl").trimEnd().split("\n").values()
  const next = Effect.sync(() => lines.next().value ?? null)
  const header = (yield* next) ?? ""
  const opened = yield* Load.open(header, passphrase)
  expect(Redacted.value(opened.keys.current)).toStrictEqual(new Uint8Array(32).fill(7))
  yield* Effect.gen(function* () {
    yield* Load.load(header, opened, next)
    const sql = yield* SqlClient.SqlClient
    // The schema is that of the backup; the start brings it up to date.
    expect(yield* sql`SELECT max(migration_id)::int AS id FROM effect_sql_migrations`).toStrictEqual([{ id: 60 }])
    expect(yield* sql`SELECT key FROM job WHERE kind = 'usage.backfill'`).toHaveLength(1)
    // Nothing that was due later is due by now, on whatever day this test runs.
    yield* sql`UPDATE invitation SET expires_at = now() + interval '7 days'`
    yield* sql`UPDATE plan_subscription SET period_end = now() + interval '20 days', next_try_at = now() + interval '20 days'`
    yield* sql`
      UPDATE phone_number SET next_renewal_at = now() + interval '20 days', check_at = now() + interval '20 days'`
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 2 })))
  return url
})

describe("A backup of version 0.1", () => {
  it.live(
    "is loaded, goes on and adds up",
    () =>
      Effect.gen(function* () {
        const known = JSON.parse(read("0.1.json")) as Known
        const url = yield* restored(known.password)
        const client = yield* Layer.build(TestDatabase.processLayer(url))
        const sql = Context.get(client, SqlClient.SqlClient)
        const { ask, context } = yield* Effect.provide(
          Service.start("previous", undefined, undefined, Layer.empty),
          client
        )
        const get = (path: string, key = known.apiKey) => ask(key, "GET", path)
        const rows = (path: string) =>
          Effect.map(get(path), ({ json, status }) => {
            expect([path, status]).toEqual([path, 200])
            return (json as { readonly results: ReadonlyArray<Record<string, unknown>> }).results
          })

        const [schemaNow] = yield* sql<{ readonly id: number }>`
            SELECT max(migration_id)::int AS id FROM effect_sql_migrations`
        expect(schemaNow?.id).toBe(Migrations.newest)
        expect(yield* sql`SELECT key FROM job WHERE kind = 'usage.backfill'`).toHaveLength(0)

        // Keys and people.
        expect((yield* get("/v1/account")).json).toMatchObject({
          tenant: { id: known.tenant, slug: "acme", status: "active" }
        })
        expect((yield* get("/v1/account", known.otherKey)).status).toBe(200)
        expect((yield* get("/v1/calls", known.secondKey)).status).toBe(200)
        expect((yield* get("/v1/billing/balance", known.secondKey)).status).toBe(403)
        expect((yield* get("/v1/account", known.revokedKey)).status).toBe(401)
        expect(new Set((yield* rows("/v1/api-keys")).map(({ name }) => name))).toEqual(
          new Set(["Default", "revoked", "second"])
        )
        expect(yield* rows("/v1/team/members")).toMatchObject([{ email: "ada@example.com", role: "owner" }])
        const login = yield* ask("", "POST", "/v1/auth/login", { email: "ada@example.com", password: known.password })
        expect([login.status, TestServer.codeOf(login)]).toEqual([200, undefined])
        const wrong = yield* ask("", "POST", "/v1/auth/login", { email: "ada@example.com", password: "wrong" })
        expect(wrong.status).toBe(401)

        // Sealed columns can be opened.
        const [hook] = yield* sql<{
          readonly secret: string
        }>`SELECT signing_secret AS secret FROM webhook_subscription`
        expect(Context.get(context, Vault).open(hook?.secret ?? "")).not.toBe("")
        expect(yield* rows("/v1/webhook-subscriptions")).toMatchObject([{ target_url: "https://127.0.0.1:9/hook" }])

        // Its number, and its calls: one as it was, the other at its end.
        expect(yield* rows("/v1/numbers")).toMatchObject([{ phone_number: known.number, status: "active" }])
        expect((yield* get(`/v1/calls/${known.call.id}`)).json).toMatchObject(known.call)
        const live = `/v1/calls/${known.liveCall}`
        let ended = (yield* get(live)).json as { readonly status: string; readonly cost_cents: number | null }
        for (let n = 0; n < 200 && ended.cost_cents === null; n++) {
          yield* Effect.sleep("50 millis")
          ended = (yield* get(live)).json as typeof ended
        }
        expect(ended).toMatchObject({ status: "ended", end_reason: expect.any(String), rating_status: "rated" })

        // Money: as it was, less the call that ended now.
        const cents = known.balanceCents - (ended.cost_cents ?? 0)
        expect((yield* get("/v1/billing/balance")).json).toMatchObject({ balance_cents: cents })
        expect(yield* Effect.provide(Features.ledgerAddsUp, client)).toBe(true)
        const proofs = Context.get(context, Proofs)
        const before = yield* proofs.verify(null)
        expect([before.faults, before.seals > 0]).toEqual([[], true])
        expect((yield* get("/v1/billing/proof")).json).toMatchObject({ sealed: known.sealed, exceptions: [] })
        yield* proofs.seal
        expect((yield* proofs.verify(null)).faults).toEqual([])

        expect(yield* rows("/v1/billing/payment-methods")).toMatchObject([{ brand: "visa", is_default: true }])
        expect((yield* get("/v1/billing/subscription")).json).toMatchObject({
          plan: { slug: "basic" },
          status: "active"
        })
        expect(yield* rows("/v1/team/invitations")).toMatchObject([{ email: "joan@example.com", status: "pending" }])
        const funding = Context.get(context, Funding)
        const [topUp] = yield* funding.attempts(known.tenant, 10)
        expect(topUp).toMatchObject({ status: "succeeded", amountCents: 2_000 })
        const refund = yield* funding.refund(topUp?.id ?? ("" as LedgerEntryId), 500, null)
        expect(refund).toMatchObject({ status: "succeeded", amountCents: 500 })

        // And a new call is placed.
        const placed = yield* ask(known.apiKey, "POST", "/v1/calls", { from: known.number, to: "+12025550100" })
        expect(placed.status).toBe(201)
        const id = (placed.json as { readonly id: string }).id
        expect((yield* ask(known.apiKey, "POST", `/v1/calls/${id}/actions/hangup`, {})).status).toBe(200)
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
    60_000
  )
})
