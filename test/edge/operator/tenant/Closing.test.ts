import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { ApiKeys } from "../../../../src/tenancy/apikey/ApiKey.ts"
import * as Id from "../../../../src/domain/Id.ts"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import { Plans } from "../../../../src/money/plan/Plan.ts"
import * as Features from "../../../support/service/Features.ts"
import { jsonOf, layer as world, operator, Recorded, signup } from "../OperatorWorld.ts"

const content = Buffer.from("heard")

/** Makes a call with a recording, its file, and a transcript of one phrase, all under one name. */
const spoken = Effect.fnUntraced(function* (tenantId: Id.TenantId, name: string) {
  const sql = yield* SqlClient.SqlClient
  const callId = Id.derive(name, "call")
  const recording = Id.derive(name, "rec")
  yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
      duration_seconds, rating_status)
    VALUES (${callId}, ${tenantId}, 'outbound', 'ended', '+12025550101', '+12025550102', 'none', now(), 3, 'rated')`
  yield* sql`INSERT INTO recording (id, tenant_id, call_id, channels, format, status, duration_seconds, size_bytes, created_at)
    VALUES (${recording}, ${tenantId}, ${callId}, 'dual', 'wav', 'available', 3, ${content.length}, now())`
  yield* sql`INSERT INTO transcription (id, tenant_id, call_id, leg_id, status, engine, language, tracks, started_at, duration_seconds)
    VALUES (${`t ${name}`}, ${tenantId}, ${callId}, 'leg', 'ended', 'e', 'en-US', 'both', now(), 3)`
  yield* sql`INSERT INTO transcript_segment (id, transcription_id, sequence, transcript, track, started_at, ended_at, words)
    VALUES (${`s ${name}`}, ${`t ${name}`}, 1, ${`said by ${name}`}, 'inbound', now(), now(), '[]')`
  const file = `recordings/${recording.slice(-32).slice(0, 2)}/${recording}.wav`
  Features.storage.files.set(file, content)
  return { recording, file }
})

interface Line {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const exported = Effect.fnUntraced(function* (slug: string) {
  const path = join((yield* Recorded).dataDir, `${slug}-${Math.random()}.ndjson.gz`)
  const outcome = yield* operator("tenant", "export", slug, path)
  expect([outcome.code, outcome.stderr]).toStrictEqual([0, ""])
  const text = gunzipSync(readFileSync(path)).toString()
  const all = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown)
  return { text, end: all.at(-1), lines: all.slice(0, -1) as ReadonlyArray<Line> }
})

layer(world, { timeout: 60_000 })("A tenant that goes", (it) => {
  it.effect("is exported whole, of itself only, without secrets, also when it is closed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* signup("leaving")
      const other = yield* signup("staying")
      const { file, recording } = yield* spoken(tenantId, "leaving")
      yield* spoken(other.tenantId, "staying")
      // These are more rows than a page has.
      yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          duration_seconds, rating_status)
        SELECT 'many ' || n, ${tenantId}::uuid, 'outbound', 'ended', '+12025550101', '+12025550102', 'none',
          now() - n * interval '1 minute', 3, 'rated' FROM generate_series(1, 400) n`
      yield* sql`INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
        VALUES ('hook', ${tenantId}, 'https://example.com/', '{}', 'whsec_hidden', true, now())`
      yield* operator("tenant", "close", "leaving")

      const { end, lines, text } = yield* exported("leaving")
      expect(lines[0]).toMatchObject({ type: "export", data: { format: 1, tenant_id: tenantId } })
      expect(end).toStrictEqual({ end: true, rows: lines.length - 1 })
      const of = (type: string) => lines.filter((line) => line.type === type).map(({ data }) => data)
      expect(of("tenant")).toMatchObject([{ id: tenantId, slug: "leaving", status: "closed" }])
      expect(of("member")).toMatchObject([{ email: "leaving@example.com", role: "owner" }])
      expect(of("api_key")).toHaveLength(1)
      expect(of("webhook_subscription")).toMatchObject([{ id: "hook", target_url: "https://example.com/" }])
      expect(of("call")).toHaveLength(401)
      expect(new Set(of("call").map(({ id }) => id)).size).toBe(401)
      expect(of("recording")).toMatchObject([
        { id: recording, file, status: "available", download_url: expect.stringContaining(recording) }
      ])
      expect(of("transcript_segment")).toMatchObject([{ transcript: "said by leaving" }])
      expect(of("ledger_entry")).toMatchObject([{ type: "adjustment", amount_cents: 500, balance_after_cents: 500 }])
      expect(of("audit_line").map(({ action }) => action)).toEqual(
        expect.arrayContaining(["tenant.closed", "tenant.exported"])
      )
      expect(text).not.toMatch(/staying|whsec_|hash|salt|password|secret/)
    })
  )

  it.effect("loses recordings and transcripts after a while, and nothing of another one or of the ledger", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* signup("erased")
      const other = yield* signup("kept")
      const some = yield* Effect.forEach(["e1", "e2", "e3"], (name) => spoken(tenantId, name))
      const kept = yield* spoken(other.tenantId, "k1")
      // The delay is the time at which a job is due.
      const dueDays = Effect.map(
        sql<{ readonly days: number }>`SELECT round(extract(epoch FROM due_at - now()) / 86400)::int AS days FROM job
          WHERE kind = 'tenant.erasure' AND key = ${tenantId}`,
        (rows) => rows.map(({ days }) => days)
      )
      const left = Effect.map(
        sql<{ readonly recordings: number; readonly said: number }>`
          SELECT (SELECT count(*)::int FROM recording WHERE tenant_id = ${tenantId} AND status = 'available') AS recordings,
            (SELECT count(*)::int FROM transcript_segment WHERE id LIKE 's e_') AS said`,
        ([row]) => [row?.recordings, row?.said, some.filter(({ file }) => Features.storage.files.has(file)).length]
      )
      const look = Effect.gen(function* () {
        yield* sql`UPDATE job SET due_at = now() WHERE kind = 'tenant.erasure' AND key = ${tenantId}`
        yield* (yield* Jobs).poll
        return yield* left
      })
      const erased = Effect.map(
        sql<{ readonly field: string; readonly count: number }>`
          SELECT changes -> 0 ->> 'field' AS field, sum((changes -> 0 ->> 'from')::int)::int AS count FROM audit
          WHERE tenant_id = ${tenantId} AND action = 'tenant.erased' GROUP BY 1 ORDER BY 1`,
        (rows) => rows.map(({ count, field }) => [field, count])
      )

      expect((yield* operator("tenant", "close", "erased", "--erase-after", "-1")).code).toBe(1)
      expect((yield* operator("tenant", "show", "erased")).stdout).toContain("status: active")
      expect((yield* operator("tenant", "close", "erased")).code).toBe(0)
      expect(yield* dueDays).toEqual([30])
      expect((yield* operator("tenant", "close", "erased", "--erase-after", "7")).code).toBe(0)
      expect(yield* dueDays).toEqual([7])
      expect((yield* operator("tenant", "close", "erased")).code).toBe(0)
      expect(yield* dueDays).toEqual([7])
      yield* (yield* Jobs).poll
      expect(yield* left).toEqual([3, 3, 3])

      // This call has not ended.
      yield* sql`INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at, partition)
        VALUES ('going on', 'call', ${tenantId}, 1, false, 1, '{}', now(), 0)`
      expect(yield* look).toEqual([3, 3, 3])
      yield* sql`UPDATE entity SET settled = true WHERE id = 'going on'`

      // The store fails in the middle: two of three files are removed, and the third is found again.
      Features.storage.failNext(1)
      const halfway = yield* look
      expect([halfway[0], halfway[1], yield* erased]).toEqual([
        1,
        0,
        [
          ["recordings", 2],
          ["transcriptions", 3]
        ]
      ])
      expect(yield* look).toEqual([0, 0, 0])
      expect(yield* erased).toEqual([
        ["recordings", 3],
        ["transcriptions", 3]
      ])
      expect(yield* dueDays).toEqual([])
      expect(Features.storage.files.has(kept.file)).toBe(true)

      const { lines } = yield* exported("erased")
      const types = lines.map(({ type }) => type)
      expect(types.filter((type) => type === "ledger_entry")).toHaveLength(1)
      expect(types).not.toContain("transcript_segment")
      expect(
        lines.filter(({ type }) => type === "recording").map(({ data }) => [data["status"], data["file"]])
      ).toEqual(Array.from({ length: 3 }, () => ["expired", null]))
      expect((yield* exported("kept")).lines.filter(({ type }) => type === "transcript_segment")).toHaveLength(1)
    })
  )

  it.effect("has its top-up refunded to the card when it is closed already, and keeps its trial credit", () =>
    Effect.gen(function* () {
      const funding = yield* Funding
      const caller = yield* signup("refunded")
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      yield* funding.topUp(caller, { amountCents: 2_000, paymentMethodId: null }, null)
      yield* operator("tenant", "close", "refunded")
      const list = jsonOf(yield* operator("payment", "list", "--tenant", "refunded", "--json"))
      const [attempt] = list["results"] as ReadonlyArray<{ readonly id: string }>
      const refund = () => operator("payment", "refund", attempt?.id ?? "", "--json")
      expect(jsonOf(yield* refund())).toMatchObject({ status: "succeeded", amount_cents: 2_000 })
      const again = yield* refund()
      expect([again.code, again.stderr]).toStrictEqual([1, expect.stringContaining("0 cents of the top-up")])
      const shown = jsonOf(yield* operator("tenant", "show", "refunded", "--json"))
      expect(shown["balance"]).toMatchObject({ balance_cents: 500 })
      const paid = yield* operator("tenant", "credit", "refunded", "--cents", "-100", "--reason", "paid out", "--json")
      expect(jsonOf(paid)["balance"]).toMatchObject({ balance_cents: 400 })
    })
  )

  it.effect("gets its balance back to its cards, once, the newest top-up first, behind its calls and its plan", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const funding = yield* Funding
      const jobs = yield* Jobs
      const caller = yield* signup("back")
      const { tenantId } = caller
      yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${tenantId}`
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      // Test money pays for no plan, so trial credit and credit limit do.
      yield* sql`UPDATE balance SET credit_limit_cents = 200 WHERE tenant_id = ${tenantId}`
      for (const amountCents of [1_000, 3_000])
        yield* funding.topUp(caller, { amountCents, paymentMethodId: null }, null)
      yield* operator("plan", "set", "basic", "--name", "Basic", "--fee", "700", "--public")
      yield* (yield* Plans).subscribe(caller, "basic", null)
      const early = yield* operator("tenant", "payout", "back")
      expect([early.code, early.stderr]).toStrictEqual([1, expect.stringContaining("close it first")])
      yield* sql`INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at, partition)
        VALUES ('svc_call_back', 'call', ${tenantId}, 1, false, 4, '{}', now(), 0)`
      // The machine does not know the only call of this tenant, so it is not ended here.
      yield* (yield* Accounts).close(tenantId, { type: "operator", name: "operator" })
      const asked = jsonOf(yield* operator("tenant", "payout", "back", "--json"))
      expect(asked["payout"]).toMatchObject({
        status: "under_way",
        refunded_cents: 0,
        pending_cents: 0,
        left_cents: null
      })
      // Two operators request the payout, and one of them repeats it.
      yield* Effect.all(
        [1, 2, 3].map(() => operator("tenant", "payout", "back")),
        { concurrency: "unbounded" }
      )
      expect(yield* sql`SELECT FROM job WHERE kind = 'closing.refund' AND tenant_id = ${tenantId}`).toHaveLength(1)
      expect((yield* (yield* Plans).subscription(tenantId)).status).toBe("active")

      yield* sql`UPDATE entity SET settled = true WHERE id = 'svc_call_back'`
      yield* Effect.all([operator("tenant", "payout", "back"), jobs.poll, operator("tenant", "payout", "back")], {
        concurrency: "unbounded"
      })
      yield* sql`UPDATE job SET due_at = now() WHERE kind = 'closing.refund' AND tenant_id = ${tenantId}`
      yield* jobs.poll
      // The balance is 500 of trial credit and 4,000 by card, less 700 for the plan. The trial credit is spent first,
      // so the whole rest was paid by card.
      const shown = jsonOf(yield* operator("tenant", "show", "back", "--json"))
      expect(shown).toMatchObject({
        balance: { balance_cents: 0 },
        payout: { status: "finished", refunded_cents: 3_800, pending_cents: 0, left_cents: 0, failed: [] }
      })
      expect((yield* (yield* Plans).subscription(tenantId)).status).toBe("none")
      const entries = yield* sql<{ readonly type: string; readonly cents: number }>`
        SELECT type, amount_cents::int AS cents FROM ledger WHERE tenant_id = ${tenantId}
          ORDER BY type = 'refund', CASE WHEN type = 'refund' THEN amount_cents END, ordinal`
      // The cards are asked in parallel, and answer in any order.
      expect(entries.map(({ cents, type }) => [type, cents])).toEqual([
        ["adjustment", 500],
        ["topup", 1_000],
        ["topup", 3_000],
        ["plan_fee", -700],
        ["refund", -3_000],
        ["refund", -800]
      ])
      expect(yield* sql`SELECT FROM letter WHERE tenant_id = ${tenantId} AND cause LIKE 'refund:%'`).toHaveLength(2)
      // A repeated payout finds nothing left to refund.
      const again = jsonOf(yield* operator("tenant", "payout", "back", "--json"))
      expect(again["payout"]).toMatchObject({ status: "finished", refunded_cents: 3_800, left_cents: 0 })
      const lines = yield* sql<{ readonly action: string }>`
        SELECT action FROM audit WHERE tenant_id = ${tenantId} AND (action LIKE 'tenant.pa%' OR action LIKE 'plan_sub%')
          ORDER BY ordinal`
      expect(lines.map(({ action }) => action)).toEqual([
        "plan_subscription.began",
        "tenant.payout_requested",
        "plan_subscription.ended",
        "tenant.paid_out",
        "tenant.payout_requested",
        "tenant.paid_out"
      ])
      expect(yield* Features.ledgerAddsUp).toBe(true)
    })
  )

  it.effect("keeps the trial credit that a correction of its charges gives back", () =>
    Effect.gen(function* () {
      const funding = yield* Funding
      const caller = yield* signup("corrected")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${caller.tenantId}`
      yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
      yield* funding.topUp(caller, { amountCents: 2_000, paymentMethodId: null }, null)
      yield* operator("plan", "set", "small", "--name", "Small", "--fee", "300", "--public")
      yield* (yield* Plans).subscribe(caller, "small", null)
      const credit = ["tenant", "credit", "corrected", "--cents", "300", "--reason", "wrong fee", "--as", "correction"]
      expect((yield* operator(...credit)).code).toBe(0)
      // Nothing is spent in the end, so the trial credit of 500 stays, and the card gets no cent of it.
      const closed = jsonOf(yield* operator("tenant", "close", "corrected", "--refund", "--json"))
      expect(closed).toMatchObject({
        balance: { balance_cents: 500 },
        payout: { status: "finished", refunded_cents: 2_000, left_cents: 500 }
      })
    })
  )

  it.effect(
    "keeps what no card takes, and its trial credit, where its operator sees it; another round asks again",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const funding = yield* Funding
        const caller = yield* signup("stuck")
        yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
        for (const amountCents of [1_000, 2_000])
          yield* funding.topUp(caller, { amountCents, paymentMethodId: null }, null)
        yield* operator("tenant", "credit", "stuck", "--cents", "-200", "--reason", "paid out in cash")
        // The processor no longer knows the charge of the newer top-up.
        const moved = yield* sql<{ readonly id: string; readonly intent: string }>`
        UPDATE payment_attempt SET intent_id = 'pi_gone' WHERE amount_cents = 2000 AND tenant_id = ${caller.tenantId}
        RETURNING id, (SELECT intent_id FROM payment_attempt o WHERE o.id = payment_attempt.id) AS intent`
        const closed = yield* operator("tenant", "close", "stuck", "--refund", "--json")
        expect(jsonOf(closed)).toMatchObject({
          status: "closed",
          balance: { balance_cents: 2_300 },
          payout: {
            status: "finished",
            refunded_cents: 1_000,
            left_cents: 2_300,
            failed: [`${moved[0]?.id}: 2000 cents (there is no such intent)`]
          }
        })
        // Nothing of it was refunded, so the operator may ask again. The trial credit stays, and so does the cash
        // payment.
        yield* sql`UPDATE payment_attempt SET intent_id = ${moved[0]?.intent ?? ""} WHERE id = ${moved[0]?.id ?? ""}`
        const again = yield* operator("tenant", "payout", "stuck", "--json")
        expect([again.code, jsonOf(again)["payout"]]).toMatchObject([
          0,
          { refunded_cents: 2_800, left_cents: 500, failed: [] }
        ])
      })
  )

  it.effect("has no plan any more, and is charged for none, also where nothing is refunded", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plans = yield* Plans
      const caller = yield* signup("planned")
      yield* operator("plan", "set", "cheap", "--name", "Cheap", "--fee", "100", "--public")
      yield* plans.subscribe(caller, "cheap", null)
      yield* operator("tenant", "close", "planned")
      yield* plans.renew
      expect((yield* plans.subscription(caller.tenantId)).status).toBe("none")
      expect(yield* sql`SELECT FROM ledger WHERE tenant_id = ${caller.tenantId} AND type = 'plan_fee'`).toHaveLength(1)
      expect(yield* sql`SELECT FROM letter WHERE cause LIKE ${`plan:${caller.tenantId}%`}`).toHaveLength(0)
    })
  )

  it.effect("is known as closed to whoever checks its keys, at once", () =>
    Effect.gen(function* () {
      const { plaintext } = yield* Features.newTenant({ name: "dead", email: "dead@example.com" })
      yield* operator("tenant", "close", "dead")
      const keys = yield* ApiKeys
      const { tenantId } = yield* keys.authenticate(plaintext, null)
      expect(yield* keys.tenantStatus(tenantId)).toBe("closed")
    })
  )

  it.effect("has an export of its own name only", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* operator("tenant", "export", "nobody", "/nowhere/file")
      expect([code, stderr]).toStrictEqual([1, expect.stringContaining("not_found")])
      expect(jsonOf(yield* operator("tenant", "show", "staying", "--json"))).toMatchObject({ slug: "staying" })
    })
  )
})
