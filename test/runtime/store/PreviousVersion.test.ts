import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import type { LedgerEntryId, TenantId } from "../../../src/domain/Id.ts"
import { Funding } from "../../../src/money/funding/Funding.ts"
import { Proofs } from "../../../src/money/proof/Proof.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import * as Features from "../../support/Features.ts"
import * as Service from "../../support/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as TestServer from "../../edge/http/TestServer.ts"

/**
 * Databases that earlier versions of the program have written, each while it served: two workspaces, keys, a number, a
 * call that ended and one that was talking when the process was killed; from schema 47 on also a card, a top-up, a
 * plan, an invitation and a seal. `previous/*.jsonl` has their rows as a backup has them, and `*.json` what was known
 * outside.
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
  readonly sealed?: { readonly entries: number; readonly chain_hash: string }
}

const read = (name: string) => readFileSync(new URL(`previous/${name}`, import.meta.url), "utf8")

interface Table {
  readonly table: string
  readonly columns: ReadonlyArray<readonly [name: string, type: string]>
}
type Line =
  | Table
  | { readonly sequence: string; readonly value: string; readonly is_called: boolean }
  | ReadonlyArray<string>

/** A database of this schema with those rows. */
const loaded = Effect.fnUntraced(function* (schema: number) {
  const url = yield* TestDatabase.empty
  const lines = read(`schema${schema}.jsonl`).trimEnd().split("\n").slice(1, -1)
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Migrations.runTo(schema)
    let of: Table = { table: "", columns: [] }
    for (const text of lines) {
      const line = JSON.parse(text) as Line
      if ("table" in line) {
        of = line
        // The rows include those that the migrations insert.
        yield* sql.unsafe(`TRUNCATE ${of.table} CASCADE`)
      } else if ("sequence" in line)
        yield* sql.unsafe("SELECT setval($1::regclass, $2::bigint, $3)", [line.sequence, line.value, line.is_called])
      else
        yield* sql.unsafe(
          `INSERT INTO ${of.table} (${of.columns.map(([name]) => `"${name}"`).join()}) OVERRIDING SYSTEM VALUE
           SELECT ${of.columns.map(([, type], index) => `($1::jsonb ->> ${index})::${type}`).join()}`,
          [text]
        )
    }
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 2 })))
  return url
})

describe("What an earlier version has written", () => {
  for (const schema of [5, 47])
    it.live(
      `is read, goes on and adds up, from schema ${schema}`,
      () =>
        Effect.gen(function* () {
          const known = JSON.parse(read(`schema${schema}.json`)) as Known
          const url = yield* loaded(schema)
          const client = yield* Layer.build(TestDatabase.processLayer(url))
          const sql = Context.get(client, SqlClient.SqlClient)
          const { ask, context } = yield* Effect.provide(
            Service.start(`previous ${schema}`, undefined, undefined, Layer.empty),
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
          if (known.sealed !== undefined) {
            const before = yield* proofs.verify(null)
            expect([before.faults, before.seals > 0]).toEqual([[], true])
            expect((yield* get("/v1/billing/proof")).json).toMatchObject({ sealed: known.sealed, exceptions: [] })
          }
          yield* proofs.seal
          expect((yield* proofs.verify(null)).faults).toEqual([])

          if (schema >= 47) {
            expect(yield* rows("/v1/billing/payment-methods")).toMatchObject([{ brand: "visa", is_default: true }])
            expect((yield* get("/v1/billing/subscription")).json).toMatchObject({
              plan: { slug: "basic" },
              status: "active"
            })
            expect(yield* rows("/v1/team/invitations")).toMatchObject([
              { email: "joan@example.com", status: "pending" }
            ])
            const funding = Context.get(context, Funding)
            const [topUp] = yield* funding.attempts(known.tenant, 10)
            expect(topUp).toMatchObject({ status: "succeeded", amountCents: 2_000 })
            const refund = yield* funding.refund(topUp?.id ?? ("" as LedgerEntryId), 500, null)
            expect(refund).toMatchObject({ status: "succeeded", amountCents: 500 })
          }

          // And a new call is placed.
          const placed = yield* ask(known.apiKey, "POST", "/v1/calls", { from: known.number, to: "+12025550100" })
          expect(placed.status).toBe(201)
          const id = (placed.json as { readonly id: string }).id
          expect((yield* ask(known.apiKey, "POST", `/v1/calls/${id}/actions/hangup`, {})).status).toBe(200)
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
      60_000
    )
})
