import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import { Margin } from "../../../../src/money/cost/Cost.ts"
import { Usages } from "../../../../src/money/usage/Usage.ts"
import { Plans } from "../../../../src/money/plan/Plan.ts"
import { Journal } from "../../../../src/runtime/store/journal/Journal.ts"
import * as SampleCommit from "../../../bench/SampleCommit.ts"
import * as Features from "../../../support/service/Features.ts"
import { ask, keyWith, layer as served, read, refusal } from "../../../support/service/ServedFeatures.ts"

interface Subscription {
  readonly plan: { readonly slug: string; readonly included: object } | null
  readonly status: string
  readonly current_period_start: string | null
  readonly current_period_end: string | null
  readonly next_plan_slug: string | null
  readonly used: Readonly<Record<string, number>>
}

const plan = (slug: string, fields: object = {}) =>
  Effect.gen(function* () {
    return yield* (yield* Plans).put({
      slug,
      name: slug,
      description: null,
      isPublic: true,
      monthlyFeeCents: 100,
      included: {},
      limits: { concurrentCallLimit: null, maxConferenceParticipants: null },
      ...fields
    })
  })

const path = "/v1/billing/subscription"
const choose = (key: string, slug: string | null, headers: Readonly<Record<string, string>> = {}) =>
  ask("PUT", path, { key, body: { plan_slug: slug }, headers })
const current = (key: string) => read<Subscription>(key, path)
const balanceOf = (key: string) =>
  Effect.map(read<{ readonly balance_cents: number }>(key, "/v1/billing/balance"), ({ balance_cents }) => balance_cents)

/** Ends the period this many days ago, and makes its fee due. */
const ended = (tenantId: TenantId, days: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      UPDATE plan_subscription SET period_end = now() - ${days}::int * interval '1 day' - interval '1 minute', next_try_at = now() - interval '1 second',
        began_at = now() - ${days}::int * interval '1 day' - interval '1 minute' - interval '1 month'
      WHERE tenant_id = ${tenantId}`
    yield* (yield* Plans).renew
  }).pipe(Effect.orDie)

/** A call of one minute for 2 cents, from its placing to its end. */
const call = (tenant: Features.NewTenant, name: string) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const { caller, id, plaintext } = tenant
    const of = { id, keyId: caller.keyId, credential: plaintext, number: "+12025550150" }
    for (const commit of SampleCommit.life(of, `${id} ${name}`)) yield* journal.commit(commit)
  })

describe("plans (guide/money.md#plans)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("are listed, the cheapest first, and only those that can be chosen", () =>
      Effect.gen(function* () {
        yield* plan("listed-b", { monthlyFeeCents: 7 })
        yield* plan("listed-a", {
          monthlyFeeCents: 3,
          included: { billed_minutes: 5 },
          limits: { concurrentCallLimit: 20, maxConferenceParticipants: 9 }
        })
        yield* plan("hidden", { isPublic: false })
        const { caller, plaintext: key } = yield* Features.newTenant()
        const { results } = yield* read<{ readonly results: ReadonlyArray<{ readonly slug: string }> }>(
          key,
          "/v1/billing/plans"
        )
        expect(results.map(({ slug }) => slug).filter((slug) => /listed|hidden/.test(slug))).toEqual([
          "listed-a",
          "listed-b"
        ])
        expect(results[0]).toMatchObject({
          name: "listed-a",
          description: null,
          is_public: true,
          monthly_fee_cents: 3,
          included: { billed_minutes: 5 },
          limits: { concurrent_call_limit: 20, max_conference_participants: 9 }
        })
        expect((yield* Effect.flip(plan("bad", { included: { call_seconds: 1 } }))).code).toBe("invalid_request")
        const wrong = yield* keyWith(caller, ["usage:read"])
        for (const where of ["/v1/billing/plans", path])
          expect(yield* refusal("GET", where, { key: wrong })).toEqual([403, "forbidden"])
        const reader = yield* keyWith(caller, ["billing:read"])
        expect(yield* refusal("PUT", path, { key: reader, body: { plan_slug: "listed-a" } })).toEqual([
          403,
          "forbidden"
        ])
      })
    )

    it.effect("begin at once with their fee and their limit, and once for each Idempotency-Key", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* plan("begins", { limits: { concurrentCallLimit: 25, maxConferenceParticipants: null } })
        const { id, plaintext: key } = yield* Features.newTenant()
        expect(yield* current(key)).toEqual({
          plan: null,
          status: "none",
          current_period_start: null,
          current_period_end: null,
          next_plan_slug: null,
          used: {}
        })
        const first = yield* choose(key, "begins", { "idempotency-key": "plan-1" })
        const again = yield* choose(key, "begins", { "idempotency-key": "plan-1" })
        expect([first.status, again.text]).toEqual([200, first.text])
        expect(again.headers["idempotent-replayed"]).toBe("true")
        expect(yield* current(key)).toMatchObject({
          plan: { slug: "begins" },
          status: "active",
          next_plan_slug: "begins"
        })
        expect(yield* balanceOf(key)).toBe(400)
        expect((yield* (yield* Accounts).overview(id)).quota.concurrentCallLimit).toBe(25)
        const lines = yield* sql`SELECT 1 FROM audit WHERE tenant_id = ${id} AND action = 'plan_subscription.began'`
        expect(lines).toHaveLength(1)
      })
    )

    it.effect("are refused when they are unknown, not public, or not paid for", () =>
      Effect.gen(function* () {
        yield* plan("secret", { isPublic: false })
        yield* plan("dear", { monthlyFeeCents: 501 })
        const { plaintext: key } = yield* Features.newTenant()
        for (const slug of ["secret", "nowhere"])
          expect(yield* refusal("PUT", path, { key, body: { plan_slug: slug } })).toEqual([422, "subscription_invalid"])
        expect(yield* refusal("PUT", path, { key, body: { plan_slug: "dear" } })).toEqual([402, "insufficient_balance"])
        for (const body of [{}, { plan_slug: 1 }, { plan_slug: "" }, { plan_slug: "dear", x: 1 }])
          expect(yield* refusal("PUT", path, { key, body })).toEqual([400, "invalid_request"])
        expect([yield* balanceOf(key), (yield* current(key)).status]).toEqual([500, "none"])
      })
    )

    it.effect("change and end with the period, and each period is paid once", () =>
      Effect.gen(function* () {
        const plans = yield* Plans
        yield* plan("small", { limits: { concurrentCallLimit: 30, maxConferenceParticipants: null } })
        yield* plan("large", { monthlyFeeCents: 150 })
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* choose(key, "small")
        yield* choose(key, "large")
        expect(yield* current(key)).toMatchObject({ plan: { slug: "small" }, next_plan_slug: "large" })
        expect(yield* balanceOf(key)).toBe(400)
        yield* ended(id, 0)
        yield* plans.renew
        expect(yield* current(key)).toMatchObject({
          plan: { slug: "large" },
          next_plan_slug: "large",
          status: "active"
        })
        expect(yield* balanceOf(key)).toBe(250)
        expect((yield* (yield* Accounts).overview(id)).quota.concurrentCallLimit).toBe(10)
        yield* choose(key, null)
        expect((yield* current(key)).next_plan_slug).toBeNull()
        yield* ended(id, 0)
        expect([(yield* current(key)).status, yield* balanceOf(key)]).toEqual(["none", 250])
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect(
      "set the concurrent limit while they hold, each with its period, and leave that of the operator alone",
      () =>
        Effect.gen(function* () {
          const accounts = yield* Accounts
          const limits = (concurrentCallLimit: number | null) => ({
            limits: { concurrentCallLimit, maxConferenceParticipants: null }
          })
          yield* plan("no-limit", { monthlyFeeCents: 0 })
          yield* plan("limit", { monthlyFeeCents: 0, ...limits(30) })
          const { id, plaintext: key } = yield* Features.newTenant()
          const limit = Effect.map(
            read<{ readonly concurrent_call_limit: number }>(key, "/v1/quota"),
            (quota) => quota.concurrent_call_limit
          )
          yield* choose(key, "no-limit")
          yield* choose(key, "limit")
          expect(yield* limit).toBe(10)
          yield* ended(id, 0)
          expect(yield* limit).toBe(30)
          yield* accounts.setQuota(id, { concurrentCallLimit: 15 }, { type: "operator", name: "test" })
          yield* plan("limit", { monthlyFeeCents: 0, ...limits(40) })
          expect(yield* limit).toBe(30)
          yield* ended(id, 0)
          expect(yield* limit).toBe(40)
          yield* choose(key, null)
          yield* ended(id, 0)
          expect(yield* limit).toBe(15)
        })
    )

    it.effect("give back what they include of all that was debited before they end or are not paid", () =>
      Effect.gen(function* () {
        yield* plan("last", { monthlyFeeCents: 300, included: { billed_minutes: 7 } })
        const [ends, owes] = [yield* Features.newTenant(), yield* Features.newTenant()]
        for (const tenant of [ends, owes]) {
          yield* choose(tenant.plaintext, "last")
          yield* call(tenant, "in the period")
        }
        yield* choose(ends.plaintext, null)
        for (const { id } of [ends, owes]) yield* ended(id, 0)
        expect([(yield* current(ends.plaintext)).status, yield* balanceOf(ends.plaintext)]).toEqual(["none", 200])
        expect(yield* current(owes.plaintext)).toMatchObject({ status: "past_due", used: { billed_minutes: 1 } })
        expect(yield* balanceOf(owes.plaintext)).toBe(200)
      })
    )

    it.effect("are past due for seven days when the fee cannot be paid, and then have ended; a top-up saves them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* plan("owed", { monthlyFeeCents: 300 })
        const lost = yield* Features.newTenant()
        const saved = yield* Features.newTenant()
        for (const { id, plaintext } of [lost, saved]) {
          yield* choose(plaintext, "owed")
          yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${id}`
          yield* ended(id, 0)
          expect([(yield* current(plaintext)).status, yield* balanceOf(plaintext)]).toEqual(["past_due", 200])
        }
        yield* (yield* Billing).adjust(saved.id, 100, "top-up")
        yield* sql`UPDATE plan_subscription SET next_try_at = now() - interval '1 second' WHERE tenant_id = ${saved.id}`
        yield* (yield* Accounts).moneyMoved(saved.id)
        yield* (yield* Plans).renew
        expect([(yield* current(saved.plaintext)).status, yield* balanceOf(saved.plaintext)]).toEqual(["active", 0])
        yield* ended(lost.id, 7)
        expect([(yield* current(lost.plaintext)).status, yield* balanceOf(lost.plaintext)]).toEqual(["none", 200])
        const letters = yield* sql<{ readonly cause: string }>`
          SELECT cause FROM letter WHERE tenant_id = ${lost.id} AND cause LIKE 'plan:%' ORDER BY cause`
        expect(letters).toHaveLength(2)
      })
    )

    it.effect("give back what they include, exactly, however many calls end at once", () =>
      Effect.gen(function* () {
        const plans = yield* Plans
        const sql = yield* SqlClient.SqlClient
        yield* plan("minutes", { monthlyFeeCents: 0, included: { billed_minutes: 7 } })
        const tenant = yield* Features.newTenant()
        yield* call(tenant, "before")
        yield* choose(tenant.plaintext, "minutes")
        const names = Array.from({ length: 12 }, (_, index) => `call ${index}`)
        yield* Effect.forEach(names, (name) => Effect.andThen(call(tenant, name), plans.cover), {
          concurrency: 6,
          discard: true
        })
        yield* Effect.all([plans.cover, plans.cover], { concurrency: "unbounded" })
        expect((yield* current(tenant.plaintext)).used).toEqual({ billed_minutes: 7 })
        // 13 calls cost 2 cents each, and 7 of them come back.
        expect(yield* balanceOf(tenant.plaintext)).toBe(500 - 13 * 2 + 7 * 2)
        const back = yield* sql`SELECT 1 FROM ledger WHERE tenant_id = ${tenant.id} AND cause LIKE 'included:%'`
        expect(back).toHaveLength(7)
        expect(yield* Features.ledgerAddsUp).toBe(true)
        yield* ended(tenant.id, 0)
        yield* call(tenant, "next period")
        yield* plans.cover
        expect((yield* current(tenant.plaintext)).used).toEqual({ billed_minutes: 1 })
      })
    )

    it.effect.each(["waiting", "added up"] as const)(
      "take what they include off the usage, the caps and the margin, while the counts are %s",
      (counts) =>
        Effect.gen(function* () {
          const plans = yield* Plans
          const usages = yield* Usages
          const accounts = yield* Accounts
          const sql = yield* SqlClient.SqlClient
          yield* plan(`seven ${counts}`, { monthlyFeeCents: 0, included: { billed_minutes: 7 } })
          const tenant = yield* Features.newTenant()
          yield* choose(tenant.plaintext, `seven ${counts}`)
          for (let nth = 0; nth < 9; nth++) yield* call(tenant, `${counts} ${nth}`)
          // Two of them were debited two months ago, and are covered only now.
          const old = yield* sql<{ readonly id: string }>`
            UPDATE ledger SET created_at = created_at - interval '2 months' WHERE id IN (
              SELECT id FROM ledger WHERE tenant_id = ${tenant.id} AND type = 'call_charge' ORDER BY ordinal LIMIT 2)
            RETURNING id`
          for (const { id } of old)
            yield* sql`
              UPDATE usage_tail SET entries = (
                SELECT jsonb_agg(CASE WHEN e->>'id' = ${id} THEN e || jsonb_build_object('at',
                  (e->>'at')::float8 - 61 * 86400000.0) ELSE e END) FROM jsonb_array_elements(entries) e)
              WHERE tenant_id = ${tenant.id} AND entries @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`
          if (counts === "added up") yield* usages.sum
          const costs = Effect.gen(function* () {
            const of = (query: string) =>
              Effect.map(
                read<{
                  readonly totals: { readonly total_cost_cents: number }
                  readonly results: ReadonlyArray<Readonly<Record<string, unknown>>>
                }>(tenant.plaintext, `/v1/usage${query}`),
                ({ results, totals }) => [
                  totals.total_cost_cents,
                  results.map((row) => [row["number"], row["total_cost_cents"]])
                ]
              )
            const start = encodeURIComponent(new Date(Date.now() - 91 * 86_400_000).toISOString())
            const end = encodeURIComponent(new Date(Date.now() + 60_000).toISOString())
            yield* accounts.moneyMoved(tenant.id)
            const { tally } = yield* accounts.overview(tenant.id)
            return {
              usage: yield* of("?group_by=number"),
              all: (yield* of(`?start=${start}&end=${end}`))[0],
              caps: [tally.daySpentCents, tally.monthSpentCents]
            }
          })
          const margin = Effect.map(
            Margin.read({ from: 0, to: Date.now() + 60_000, by: "tenant", tariff: { decks: [], spans: [] } }),
            (sums) => sums.get(tenant.id)?.debitedMicroUsd
          )
          expect(yield* costs).toEqual({ usage: [14, [["+12025550150", 14]]], all: 18, caps: [14, 14] })
          yield* plans.cover
          const after = { usage: [4, [["+12025550150", 4]]], all: 4, caps: [4, 4] }
          expect(yield* costs).toEqual(after)
          yield* usages.sum
          expect(yield* costs).toEqual(after)
          expect(yield* margin).toBe(40_000)
          // Nothing is taken off twice.
          yield* plans.cover
          yield* usages.sum
          expect(yield* costs).toEqual(after)
          expect(yield* margin).toBe(40_000)
        })
    )
  })
})
