import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import * as Features from "../../../support/service/Features.ts"
import { ask, keyWith, layer as served, read, refusal } from "../../../support/service/ServedFeatures.ts"

interface Card {
  readonly id: string
  readonly brand: string
  readonly last4: string
  readonly is_default: boolean
}
interface Page<Item> {
  readonly count: number
  readonly results: ReadonlyArray<Item>
}
interface TopUp {
  readonly id: string
  readonly status: string
  readonly balance_cents: number
  readonly client_secret: string | null
  readonly ledger_entry: { readonly type: string; readonly amount_cents: number } | null
}

const cards = "/v1/billing/payment-methods"
const recharge = "/v1/billing/auto-recharge"

const save = (key: string, name: string, fields: object = {}) =>
  Effect.map(
    ask("POST", cards, { key, body: { processor_payment_method_id: name, ...fields } }),
    ({ json, status }) => ({ status, card: json as Card })
  )

const topUp = (key: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  Effect.map(ask("POST", "/v1/billing/topup", { key, body, headers }), ({ json, status }) => ({
    status,
    body: json as TopUp & { readonly error?: { readonly code: string } }
  }))

const balanceOf = (key: string) =>
  Effect.map(read<{ readonly balance_cents: number }>(key, "/v1/billing/balance"), (body) => body.balance_cents)

const auditOf = (tenantId: TenantId) =>
  Effect.map(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly action: string }>`SELECT action FROM audit WHERE tenant_id = ${tenantId} ORDER BY ordinal`
    ),
    (rows) => rows.map(({ action }) => action)
  )

const chargesOf = (tenantId: TenantId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly cents: number }>`
        SELECT (body ->> 'receivedCents')::float8 AS cents FROM development_payment p
        JOIN payment_customer c ON c.customer_id = p.customer_id AND c.processor = 'development'
        WHERE c.tenant_id = ${tenantId} AND p.type = 'intent' AND body ->> 'status' = 'succeeded'`,
      (rows) => rows.reduce((sum, { cents }) => sum + cents, 0)
    )
  )

/** Members get letters only at addresses that they have verified. */
const verified = (tenantId: TenantId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${tenantId}`
  )

const subjectsTo = (email: string) =>
  Features.mails.filter((mail) => JSON.stringify(mail.to).includes(email)).map(({ subject }) => subject)

describe("cards (guide/money.md#cards)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("are saved by the processor's id, listed, made the default, and deleted", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        expect((yield* ask("POST", `${cards}/setup`, { key })).json).toMatchObject({
          publishable_key: "pk_development"
        })
        const visa = yield* save(key, "pm_card_visa")
        expect(visa).toMatchObject({ status: 201, card: { brand: "visa", last4: "4242", is_default: true } })
        const master = yield* save(key, "pm_card_mastercard", { set_default: false })
        expect(master.card.is_default).toBe(false)
        const again = yield* save(key, "pm_card_visa")
        expect(again.card.id).toBe(visa.card.id)
        expect((yield* read<Page<Card>>(key, cards)).results.map((card) => [card.brand, card.is_default])).toEqual([
          ["mastercard", false],
          ["visa", true]
        ])
        const changed = yield* ask("PATCH", `${cards}/${master.card.id}`, { key, body: { is_default: true } })
        expect([changed.status, (changed.json as Card).is_default]).toEqual([200, true])
        expect((yield* ask("DELETE", `${cards}/${master.card.id}`, { key })).status).toBe(204)
        expect((yield* read<Page<Card>>(key, cards)).results.map((card) => [card.brand, card.is_default])).toEqual([
          ["visa", true]
        ])
        expect(yield* refusal("DELETE", `${cards}/${master.card.id}`, { key })).toEqual([404, "not_found"])
        expect(yield* auditOf(id)).toEqual(
          expect.arrayContaining(["payment_method.created", "payment_method.updated", "payment_method.deleted"])
        )
      })
    )

    it.effect("are refused where they cannot be saved or are spelled wrong", () =>
      Effect.gen(function* () {
        const { plaintext: key } = yield* Features.newTenant()
        const bodies: ReadonlyArray<readonly [object, number, string]> = [
          [{ processor_payment_method_id: "pm_card_unknown" }, 400, "invalid_request"],
          [{ processor_payment_method_id: "4242424242424242" }, 400, "invalid_request"],
          [{ processor_payment_method_id: "pm_card_visa", extra: 1 }, 400, "invalid_request"],
          [{}, 400, "invalid_request"],
          [{ processor_payment_method_id: "pm_card_chargeDeclined" }, 402, "payment_failed"]
        ]
        for (const [body, status, code] of bodies)
          expect(yield* refusal("POST", cards, { key, body })).toEqual([status, code])
        expect(
          yield* refusal("PATCH", `${cards}/svc_pm_${"0".repeat(32)}`, { key, body: { is_default: true } })
        ).toEqual([404, "not_found"])
      })
    )

    it.effect("of one tenant are nobody else's", () =>
      Effect.gen(function* () {
        const one = yield* Features.newTenant()
        const other = yield* Features.newTenant()
        const { card } = yield* save(one.plaintext, "pm_card_visa")
        yield* save(other.plaintext, "pm_card_visa")
        const key = other.plaintext
        expect(yield* refusal("DELETE", `${cards}/${card.id}`, { key })).toEqual([404, "not_found"])
        expect(yield* refusal("PATCH", `${cards}/${card.id}`, { key, body: { is_default: true } })).toEqual([
          404,
          "not_found"
        ])
        const body = { amount_cents: 1_000, payment_method_id: card.id }
        expect(yield* refusal("POST", "/v1/billing/topup", { key, body })).toEqual([404, "not_found"])
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{
          readonly id: string
        }>`SELECT processor_id AS id FROM payment_method WHERE id = ${card.id}`
        expect(yield* refusal("POST", cards, { key, body: { processor_payment_method_id: row?.id ?? "" } })).toEqual([
          400,
          "invalid_request"
        ])
      })
    )

    it.effect("ask for their scopes, and serve a suspended tenant", () =>
      Effect.gen(function* () {
        const { caller, id } = yield* Features.newTenant()
        const reader = yield* keyWith(caller, ["billing:read"])
        const writer = yield* keyWith(caller, ["billing:write"])
        yield* (yield* Accounts).suspend(id, "operator", { type: "operator", name: "test" })
        expect((yield* save(writer, "pm_card_visa")).status).toBe(201)
        expect((yield* topUp(writer, { amount_cents: 1_000 })).status).toBe(201)
        for (const path of [cards, recharge]) {
          expect((yield* ask("GET", path, { key: reader })).status).toBe(200)
          expect(yield* refusal("GET", path, { key: writer })).toEqual([403, "forbidden"])
          expect(yield* refusal("GET", path, {})).toEqual([401, "authentication_required"])
        }
        for (const [method, path, body] of [
          ["POST", cards, { processor_payment_method_id: "pm_card_visa" }],
          ["POST", `${cards}/setup`, undefined],
          ["POST", "/v1/billing/topup", { amount_cents: 1_000 }],
          ["PUT", recharge, { enabled: false }]
        ] as const)
          expect(yield* refusal(method, path, { key: reader, ...(body === undefined ? {} : { body }) })).toEqual([
            403,
            "forbidden"
          ])
      })
    )
  })
})

describe("top-ups (guide/money.md#top-ups)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("charge the default card, and credit the balance with a ledger entry, an audit line and a receipt", () =>
      Effect.gen(function* () {
        const { email, id, plaintext: key } = yield* Features.newTenant()
        yield* verified(id)
        expect(yield* refusal("POST", "/v1/billing/topup", { key, body: { amount_cents: 1_000 } })).toEqual([
          400,
          "payment_method_required"
        ])
        yield* save(key, "pm_card_visa")
        const { body, status } = yield* topUp(key, { amount_cents: 2_000 })
        expect(status).toBe(201)
        expect(body).toMatchObject({
          status: "succeeded",
          amount_cents: 2_000,
          balance_cents: 2_500,
          client_secret: null
        })
        expect(body.ledger_entry).toMatchObject({ id: body.id, type: "topup", amount_cents: 2_000 })
        expect(yield* balanceOf(key)).toBe(2_500)
        expect(yield* chargesOf(id)).toBe(2_000)
        yield* Features.lettersSent
        expect(subjectsTo(email)).toContain("Receipt: $20.00")
        expect(yield* auditOf(id)).toEqual(expect.arrayContaining(["topup.created", "balance.topped_up"]))
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("are bounded", () =>
      Effect.gen(function* () {
        const { plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_visa")
        for (const [amount, code] of [
          [999, "topup_amount_too_low"],
          [0, "topup_amount_too_low"],
          [-1_000, "topup_amount_too_low"],
          [500_001, "invalid_request"],
          [1_000.5, "invalid_request"],
          ["1000", "invalid_request"]
        ] as const)
          expect([
            amount,
            yield* refusal("POST", "/v1/billing/topup", { key, body: { amount_cents: amount } })
          ]).toEqual([amount, [400, code]])
        expect(yield* balanceOf(key)).toBe(500)
        expect((yield* topUp(key, { amount_cents: 500_000 })).status).toBe(201)
      })
    )

    it.effect("are 402 where the card is declined, and a repetition with the key says so again", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_chargeCustomerFail")
        const headers = { "idempotency-key": "declined" }
        for (let time = 0; time < 3; time++) {
          const { body, status } = yield* topUp(key, { amount_cents: 1_000 }, headers)
          expect([status, body.error?.code]).toEqual([402, "payment_failed"])
        }
        expect(yield* balanceOf(key)).toBe(500)
        expect((yield* auditOf(id)).filter((action) => action === "topup.failed")).toHaveLength(1)
        const tries = yield* Effect.forEach(Array.from({ length: 8 }), () => topUp(key, { amount_cents: 1_000 }))
        expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([402]))
        // The ninth attempt of a day does not reach the processor.
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM payment_attempt WHERE tenant_id = ${id}`
        expect(row?.count).toBe(8)
      })
    )

    it.effect("are pending with a secret while the cardholder has to confirm them", () =>
      Effect.gen(function* () {
        const { plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_authenticationRequired")
        const { body, status } = yield* topUp(key, { amount_cents: 1_000 })
        expect([status, body.status, body.ledger_entry]).toEqual([201, "pending", null])
        expect(body.client_secret).toMatch(/_secret_/)
        expect(yield* balanceOf(key)).toBe(500)
        const card = (yield* read<Page<Card>>(key, cards)).results[0]
        expect(yield* refusal("DELETE", `${cards}/${card?.id}`, { key })).toEqual([409, "conflict"])
      })
    )

    it.effect("have their bounds for all that come at once, and a card keeps its declines when it is saved anew", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const many = (key: string) =>
          Effect.all(
            Array.from({ length: 24 }, () => topUp(key, { amount_cents: 1_000 })),
            { concurrency: "unbounded" }
          )
        const tried = (tenantId: TenantId) =>
          Effect.map(
            sql<{ readonly count: number }>`
              SELECT count(*)::int AS count FROM payment_attempt WHERE tenant_id = ${tenantId}`,
            ([row]) => row?.count ?? 0
          )
        const confirming = yield* Features.newTenant()
        yield* save(confirming.plaintext, "pm_card_authenticationRequired")
        const pending = yield* many(confirming.plaintext)
        expect(pending.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
          ...Array.from({ length: 10 }, () => 201),
          ...Array.from({ length: 14 }, () => 409)
        ])
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_chargeCustomerFail")
        yield* topUp(key, { amount_cents: 1_000 })
        yield* many(key)
        expect(yield* tried(id)).toBe(8)
        const card = (yield* read<Page<Card>>(key, cards)).results[0]
        expect((yield* ask("DELETE", `${cards}/${card?.id}`, { key })).status).toBe(204)
        yield* save(key, "pm_card_chargeCustomerFail")
        expect((yield* topUp(key, { amount_cents: 1_000 })).status).toBe(402)
        expect(yield* tried(id)).toBe(8)
        // A card that is saved again may be another one to a processor.
        for (let cards = 1; cards <= 3; cards++) {
          yield* sql`UPDATE payment_attempt SET card_id = 'pm_' || ordinal WHERE tenant_id = ${id}`
          yield* topUp(key, { amount_cents: 1_000 })
          yield* many(key)
          expect(yield* tried(id)).toBe(Math.min(8 * (cards + 1), 24))
        }
        const other = yield* save(key, "pm_card_visa")
        expect((yield* topUp(key, { amount_cents: 1_000, payment_method_id: other.card.id })).status).toBe(402)
      })
    )

    it.effect("that come ten at once are one with an Idempotency-Key, and ten without", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_visa")
        const ten = (headers: Readonly<Record<string, string>>) =>
          Effect.all(
            Array.from({ length: 10 }, () => topUp(key, { amount_cents: 1_000 }, headers)),
            { concurrency: "unbounded" }
          )
        const same = yield* ten({ "idempotency-key": "once" })
        const done = same.filter(({ status }) => status === 201)
        expect(done.length).toBeGreaterThanOrEqual(1)
        expect(new Set(done.map(({ body }) => body.id)).size).toBe(1)
        expect(same.filter(({ status }) => status !== 201).every(({ status }) => status === 409)).toBe(true)
        expect(yield* chargesOf(id)).toBe(1_000)
        const each = yield* ten({})
        expect(each.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
        expect([yield* chargesOf(id), yield* balanceOf(key)]).toEqual([11_000, 11_500])
        expect(yield* Features.ledgerAddsUp).toBe(true)
        expect(
          yield* refusal("POST", "/v1/billing/topup", {
            key,
            body: { amount_cents: 1_500 },
            headers: { "idempotency-key": "once" }
          })
        ).toEqual([409, "idempotency_conflict"])
      })
    )
  })
})

describe("the testing of cards (guide/money.md#limits-of-cards)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    const declining = "pm_card_chargeDeclined"
    const saves = (key: string, times: number) =>
      Effect.map(
        Effect.all(
          Array.from({ length: times }, () => save(key, declining)),
          { concurrency: "unbounded" }
        ),
        (answers) => answers.map(({ status }) => status)
      )
    const asked = (tenantId: TenantId) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.map(
          sql<{ readonly kind: string; readonly count: number }>`
            SELECT kind, count(*)::int AS count FROM card_trial WHERE tenant_id = ${tenantId} GROUP BY kind`,
          (rows) => Object.fromEntries(rows.map(({ count, kind }) => [kind, count]))
        )
      )

    it.effect("ends after 24 declined cards and 24 setups of a workspace, also when they come at once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id, plaintext: key } = yield* Features.newTenant()
        const declined = yield* saves(key, 60)
        expect(declined.filter((status) => status === 402)).toHaveLength(24)
        expect(declined.filter((status) => status === 429)).toHaveLength(36)
        expect(yield* asked(id)).toEqual({ decline: 24 })
        const body = { processor_payment_method_id: "pm_card_visa" }
        const limited = yield* ask("POST", cards, { key, body })
        expect([limited.status, yield* refusal("POST", `${cards}/setup`, { key })]).toEqual([
          429,
          [429, "rate_limited"]
        ])
        const waitSecs = Number(limited.headers["retry-after"])
        expect(waitSecs).toBeGreaterThan(86_000)
        expect(waitSecs).toBeLessThanOrEqual(86_400)

        const other = yield* Features.newTenant()
        const setups = yield* Effect.all(
          Array.from({ length: 60 }, () => ask("POST", `${cards}/setup`, { key: other.plaintext })),
          { concurrency: "unbounded" }
        )
        expect(setups.filter(({ status }) => status === 201)).toHaveLength(24)
        expect(setups.filter(({ status }) => status === 429)).toHaveLength(36)
        // Its cards can be saved and charged, and a card that is saved already is no trial.
        for (let n = 0; n < 30; n++) expect((yield* save(other.plaintext, "pm_card_visa")).status).toBe(201)
        for (let n = 0; n < 30; n++) expect((yield* save(other.plaintext, "pm_card_unknown")).status).toBe(400)
        expect((yield* topUp(other.plaintext, { amount_cents: 1_000 })).status).toBe(201)
        expect(yield* asked(other.id)).toEqual({ setup: 24, save: 1 })
        // A day later they may be tried again.
        yield* sql`UPDATE card_trial SET at = at - interval '25 hours' WHERE tenant_id IN ${sql.in([id, other.id])}`
        expect((yield* save(key, "pm_card_visa")).status).toBe(201)
        expect((yield* ask("POST", `${cards}/setup`, { key: other.plaintext })).status).toBe(201)
      })
    )

    it.effect("ends after 72 declined cards of an address, however many workspaces and ways it has", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM card_trial`
        const saver = yield* Features.newTenant()
        const charger = yield* Features.newTenant()
        yield* saves(saver.plaintext, 20)
        yield* save(charger.plaintext, "pm_card_chargeCustomerFail")
        for (let n = 0; n < 8; n++) yield* topUp(charger.plaintext, { amount_cents: 1_000 })
        expect(yield* asked(charger.id)).toEqual({ save: 1, decline: 8 })
        for (let workspace = 0; workspace < 3; workspace++) yield* saves((yield* Features.newTenant()).plaintext, 24)
        const [row] = yield* sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM card_trial WHERE kind = 'decline'`
        expect(row?.count).toBe(72)
        const honest = yield* Features.newTenant()
        expect((yield* save(honest.plaintext, "pm_card_visa")).status).toBe(429)
        expect(yield* refusal("POST", `${cards}/setup`, { key: honest.plaintext })).toEqual([429, "rate_limited"])
        expect((yield* topUp(charger.plaintext, { amount_cents: 1_000 })).status).toBe(402)
        expect(yield* asked(charger.id)).toEqual({ save: 1, decline: 8 })
      })
    )

    it.effect("ends after 240 saved cards of an address, however many workspaces it has", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM card_trial`
        const saver = yield* Features.newTenant()
        expect((yield* save(saver.plaintext, "pm_card_visa")).status).toBe(201)
        yield* sql`
          INSERT INTO card_trial (tenant_id, address, kind, at)
          SELECT tenant_id, address, kind, at FROM card_trial, generate_series(1, 238)`
        const [last, refused] = [yield* Features.newTenant(), yield* Features.newTenant()]
        expect((yield* save(last.plaintext, "pm_card_visa")).status).toBe(201)
        expect((yield* save(refused.plaintext, "pm_card_visa")).status).toBe(429)
        // Cards that were saved are no reason against setups and charges.
        expect((yield* ask("POST", `${cards}/setup`, { key: refused.plaintext })).status).toBe(201)
        expect((yield* topUp(last.plaintext, { amount_cents: 1_000 })).status).toBe(201)
      })
    )
  })
})

describe("auto-recharge (guide/money.md#auto-recharge)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    const set = { enabled: true, auto_recharge_threshold_cents: 400, auto_recharge_amount_cents: 1_000 }
    /** Waits for work that continues after the answers. */
    const until = <A>(look: Effect.Effect<A>, wanted: (value: A) => boolean) =>
      look.pipe(
        Effect.tap(() => Effect.sleep("50 millis")),
        Effect.repeat({ until: wanted, times: 200 })
      )

    it.effect("is off, and is set as a whole; a card that it uses stays", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        expect(yield* read(key, recharge)).toEqual({
          enabled: false,
          auto_recharge_threshold_cents: null,
          auto_recharge_amount_cents: null,
          payment_method_id: null,
          last_attempt_at: null,
          last_attempt_status: null,
          disabled_reason: null,
          updated_at: null
        })
        expect(yield* refusal("PUT", recharge, { key, body: set })).toEqual([400, "payment_method_required"])
        const { card } = yield* save(key, "pm_card_visa")
        for (const [fields, code] of [
          [{ auto_recharge_amount_cents: 999 }, "topup_amount_too_low"],
          [{ auto_recharge_amount_cents: 500_001 }, "invalid_request"],
          [{ auto_recharge_amount_cents: null }, "invalid_request"],
          [{ auto_recharge_threshold_cents: null }, "invalid_request"],
          [{ auto_recharge_threshold_cents: -1 }, "invalid_request"],
          [{ enabled: "yes" }, "invalid_request"]
        ] as const)
          expect(yield* refusal("PUT", recharge, { key, body: { ...set, ...fields } })).toEqual([400, code])
        const unknown = { ...set, payment_method_id: `svc_pm_${"0".repeat(32)}` }
        expect(yield* refusal("PUT", recharge, { key, body: unknown })).toEqual([404, "not_found"])
        const answer = yield* ask("PUT", recharge, { key, body: { ...set, payment_method_id: card.id } })
        expect(answer.status).toBe(200)
        expect(yield* read(key, recharge)).toMatchObject({ ...set, payment_method_id: card.id })
        const balance = yield* read<object>(key, "/v1/billing/balance")
        expect(balance).toMatchObject({ auto_recharge_threshold_cents: 400, auto_recharge_amount_cents: 1_000 })
        expect(yield* refusal("DELETE", `${cards}/${card.id}`, { key })).toEqual([409, "conflict"])
        expect((yield* ask("PUT", recharge, { key, body: { enabled: false } })).status).toBe(200)
        expect(yield* read<object>(key, "/v1/billing/balance")).toMatchObject({ auto_recharge_threshold_cents: null })
        expect((yield* ask("DELETE", `${cards}/${card.id}`, { key })).status).toBe(204)
        expect(yield* auditOf(id)).toContain("auto_recharge.updated")
      })
    )

    it.effect("charges the card when the balance falls to the threshold, and at most three times a day", () =>
      Effect.gen(function* () {
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_visa")
        yield* ask("PUT", recharge, { key, body: set })
        yield* Features.lettersSent
        expect(yield* balanceOf(key)).toBe(500)
        yield* (yield* Billing).adjust(id, -100, "spent")
        yield* (yield* Accounts).moneyMoved(id)
        yield* (yield* Accounts).overview(id)
        const look = Effect.andThen(Features.lettersSent, balanceOf(key))
        const context = yield* Effect.context<Effect.Services<typeof look>>()
        yield* until(Effect.provide(look, context), (cents) => cents === 1_400)
        expect(yield* balanceOf(key)).toBe(1_400)
        expect(yield* read(key, recharge)).toMatchObject({ last_attempt_status: "succeeded", enabled: true })
        yield* (yield* Billing).adjust(id, -10_000, "spent")
        yield* (yield* Accounts).moneyMoved(id)
        yield* (yield* Accounts).overview(id)
        yield* until(Effect.provide(look, context), (cents) => cents === -6_600)
        yield* Effect.sleep("1500 millis")
        yield* Features.lettersSent
        expect([yield* chargesOf(id), yield* balanceOf(key)]).toEqual([3_000, -6_600])
      })
    )

    it.effect("is begun by the sweep for all whose balance is low, whatever is wrong with one of them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const jobs = yield* Jobs
        const tenants = [yield* Features.newTenant(), yield* Features.newTenant()].toSorted((one, other) =>
          one.id < other.id ? -1 : 1
        )
        for (const { id, plaintext: key } of tenants) {
          yield* save(key, "pm_card_visa")
          yield* sql`
            INSERT INTO auto_recharge (tenant_id, enabled, threshold_cents, amount_cents, failures, updated_at)
            VALUES (${id}, true, 600, 1000, 0, now())`
        }
        const [broken, other] = tenants
        yield* sql`
          CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`
        yield* sql.unsafe(`
          CREATE TRIGGER refused BEFORE INSERT ON payment_attempt FOR EACH ROW WHEN (NEW.tenant_id = '${broken?.id}')
            EXECUTE FUNCTION refused()`)
        const kind = "funding.auto_recharge"
        yield* jobs.enqueue({ kind, key: kind, tenantId: null })
        yield* jobs.runNow(kind, kind)
        yield* jobs.poll
        expect([yield* balanceOf(broken?.plaintext ?? ""), yield* balanceOf(other?.plaintext ?? "")]).toEqual([
          500, 1_500
        ])
        yield* sql`DROP TRIGGER refused ON payment_attempt`
        yield* sql`DELETE FROM auto_recharge WHERE tenant_id IN ${sql.in(tenants.map(({ id }) => id))}`
      })
    )

    it.effect("that is declined waits, and refuses calls by its own code only when the balance is used up", () =>
      Effect.gen(function* () {
        const { email, id, plaintext: key } = yield* Features.newTenant()
        yield* verified(id)
        yield* save(key, "pm_card_chargeCustomerFail")
        yield* ask("PUT", recharge, { key, body: set })
        yield* (yield* Billing).adjust(id, -200, "spent")
        yield* (yield* Accounts).moneyMoved(id)
        const accounts = yield* Accounts
        yield* accounts.overview(id)
        const failed = Effect.andThen(
          Features.lettersSent,
          read<{ readonly last_attempt_status: string | null }>(key, recharge)
        )
        const context = yield* Effect.context<Effect.Services<typeof failed>>()
        yield* until(Effect.provide(failed, context), (state) => state.last_attempt_status === "failed")
        expect(yield* read(key, recharge)).toMatchObject({ enabled: true, last_attempt_status: "failed" })
        yield* Features.lettersSent
        expect(subjectsTo(email)).toContain("Auto-recharge of $10.00 failed")
        const call = (cents: number) =>
          Effect.flip(
            accounts.reserve(id, `svc_call_${"1".repeat(32)}` as never, { purpose: "outbound", offers: [cents] })
          )
        expect((yield* call(5_000)).code).toBe("balance_insufficient")
        yield* (yield* Billing).adjust(id, -300, "spent")
        yield* accounts.moneyMoved(id)
        expect((yield* call(1)).code).toBe("auto_recharge_failed")
      })
    )

    it.effect("tries no card that was declined too often, however often it is set anew", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const jobs = yield* Jobs
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* save(key, "pm_card_chargeCustomerFail")
        for (let n = 0; n < 8; n++) expect((yield* topUp(key, { amount_cents: 1_000 })).status).toBe(402)
        const kind = "funding.auto_recharge"
        yield* jobs.enqueue({ kind, key: kind, tenantId: null })
        for (let n = 0; n < 2; n++) {
          yield* ask("PUT", recharge, { key, body: { ...set, auto_recharge_threshold_cents: 500 } })
          yield* jobs.runNow(kind, kind)
          expect(yield* sql`SELECT FROM payment_attempt WHERE tenant_id = ${id}`).toHaveLength(8)
        }
        // A day later it is charged again.
        yield* sql`UPDATE payment_attempt SET created_at = created_at - interval '25 hours' WHERE tenant_id = ${id}`
        yield* jobs.runNow(kind, kind)
        yield* until(Effect.orDie(sql`SELECT FROM payment_attempt WHERE tenant_id = ${id}`), (rows) => rows.length > 8)
      })
    )

    it.effect("is disabled at once where the bank wants its customer to confirm", () =>
      Effect.gen(function* () {
        const { email, id, plaintext: key } = yield* Features.newTenant()
        yield* verified(id)
        yield* save(key, "pm_card_authenticationRequired")
        yield* ask("PUT", recharge, { key, body: { ...set, auto_recharge_threshold_cents: 500 } })
        const look = Effect.andThen(Features.lettersSent, read<{ readonly enabled: boolean }>(key, recharge))
        const context = yield* Effect.context<Effect.Services<typeof look>>()
        yield* until(Effect.provide(look, context), ({ enabled }) => !enabled)
        expect(yield* read(key, recharge)).toMatchObject({
          enabled: false,
          disabled_reason: "authentication_required",
          last_attempt_status: "failed"
        })
        expect(yield* auditOf(id)).toContain("auto_recharge.disabled")
        yield* Features.lettersSent
        expect(subjectsTo(email)).toContain("Auto-recharge is disabled")
      })
    )
  })
})

describe("events of the processor (guide/money.md#stripe)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("are refused without a good signature", () =>
      Effect.gen(function* () {
        const path = "/v1/billing/webhooks/stripe"
        for (const headers of [{}, { "stripe-signature": "t=1,v1=00" }])
          expect(yield* refusal("POST", path, { body: { id: "evt_1", object: "event" }, headers })).toEqual([
            400,
            "invalid_request"
          ])
      })
    )

    it.effect("are limited to 600 a minute from one address, forged ones too", () =>
      Effect.gen(function* () {
        const headers = { "stripe-signature": "t=1,v1=00" }
        const answers = yield* Effect.all(
          Array.from({ length: 610 }, () => ask("POST", "/v1/billing/webhooks/stripe", { body: {}, headers })),
          { concurrency: 20 }
        )
        const limited = answers.filter(({ status }) => status === 429)
        expect(limited.length).toBeGreaterThanOrEqual(10)
        expect(Number(limited[0]?.headers["retry-after"])).toBeGreaterThan(0)
        expect(answers.every(({ status }) => status === 400 || status === 429)).toBe(true)
      })
    )
  })
})
