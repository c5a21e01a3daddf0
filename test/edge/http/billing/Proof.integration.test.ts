import { timestamptz } from "@effect/sql-pg/PgTypes"
import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import * as Id from "../../../../src/domain/Id.ts"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import * as Csv from "../../../../src/domain/schema/Csv.ts"
import { Proofs } from "../../../../src/money/proof/Proof.ts"
import * as Features from "../../../support/service/Features.ts"
import { ask, keyWith, layer as served, read, refusal } from "../../../support/service/ServedFeatures.ts"

interface Proof {
  readonly balance_cents: number
  readonly ledger_sum_cents: number
  readonly entries: number
  readonly sealed: { readonly through: string | null; readonly entries: number; readonly chain_hash: string }
  readonly tail: { readonly entries: number; readonly sum_cents: number }
  readonly calls: { readonly rated_with_cost: number; readonly debited: number }
  readonly exceptions: ReadonlyArray<{ readonly code: string; readonly message: string }>
}

const dayMs = 86_400_000

/** Runs a round of the sealer this many days from now. */
const sealAt = Effect.fnUntraced(function* (days: number) {
  const clock = yield* Clock.Clock
  const moved = Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + days * dayMs),
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + days * dayMs
  })
  yield* Effect.provideService((yield* Proofs).seal, Clock.Clock, moved)
})

/** The rounds of these tests lie far in the past, each on another day. */
let days = -1_000
const anotherDay = Effect.suspend(() => sealAt(++days))

/** Follows the guide without any code of the service, over the CSV file, whose cells are valid JSON values. */
const chainOf = (tenantId: string, file: string, entries: number): string => {
  const [, ...records] = Result.getOrThrow(Csv.parse(file)).map(({ cells }) => cells)
  let link = createHash("sha256").update(tenantId).digest("hex")
  for (const cells of records.slice(0, entries)) {
    const [id, createdAt, type, amount, left, description, referenceType, referenceId] = cells
    const text = `{"amount_cents":${amount},"balance_after_cents":${left},"created_at":"${createdAt}","description":${JSON.stringify(description)},"id":"${id}","reference_id":${referenceId === "" ? "null" : `"${referenceId}"`},"reference_type":${referenceType === "" ? "null" : `"${referenceType}"`},"type":"${type}"}`
    link = createHash("sha256")
      .update(link + text)
      .digest("hex")
  }
  return link
}

const call = (tenantId: Id.TenantId, name: string, cents: number, debited: number | null) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = `svc_call_${createHash("md5")
      .update(name + tenantId)
      .digest("hex")}`
    yield* sql`
      INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at, duration_seconds,
        cost_cents, rating_status)
      VALUES (${id}, ${tenantId}, 'outbound', 'ended', '+12025550150', '+12025550100', 'svc_route_0', now(), 1, ${cents}, 'rated')`
    if (debited === null) return id
    yield* sql`
      INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, reference_type, reference_id,
        created_at)
      SELECT ${id.replace("call", "ledger")}, ${tenantId}, ${`call:${id}`}, 'call_charge', ${-debited}, balance_cents - ${debited}::int,
        'Call to +12025550100', 'call', ${id}, now() FROM balance WHERE tenant_id = ${tenantId}`
    yield* sql`UPDATE balance SET balance_cents = balance_cents - ${debited} WHERE tenant_id = ${tenantId}`
    return id
  }).pipe(Effect.orDie)

describe("the proof (guide/money.md#proof)", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("says what the card processor has, what went back, what differs, and how many payments are open", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const funding = yield* Funding
        const { caller, id, plaintext: key } = yield* Features.newTenant()
        const proof = read<{ readonly [field: string]: unknown }>(key, "/v1/billing/proof")
        expect(yield* proof).toMatchObject({ processor: null, attempts_open: 0, exceptions: [] })
        const save = (card: string) =>
          Effect.map(
            ask("POST", "/v1/billing/payment-methods", { key, body: { processor_payment_method_id: card } }),
            ({ json }) => (json as { readonly id: string }).id
          )
        const topUp = (card: string, cents: number) =>
          ask("POST", "/v1/billing/topup", { key, body: { amount_cents: cents, payment_method_id: card } })
        const visa = yield* save("pm_card_visa")
        expect((yield* topUp(visa, 3_000)).status).toBe(201)
        // The cardholder still has to confirm it.
        expect((yield* topUp(yield* save("pm_card_authenticationRequired"), 1_500)).json).toMatchObject({
          status: "pending"
        })
        const [, paid] = yield* funding.attempts(id, 10)
        yield* funding.refund(paid?.id ?? Id.derive("none", "ledger"), 1_000, null)
        yield* funding.reconcile(caller.tenantId)
        expect(yield* proof).toMatchObject({
          balance_cents: 2_500,
          attempts_open: 1,
          processor: { charged_cents: 3_000, refunded_cents: 1_000, difference_cents: 0 },
          exceptions: []
        })
        // The processor forgets the refund.
        yield* sql`DELETE FROM development_payment WHERE type = 'refund'`
        yield* funding.reconcile(caller.tenantId)
        expect(yield* proof).toMatchObject({
          processor: { charged_cents: 3_000, refunded_cents: 0, difference_cents: 1_000 },
          exceptions: [{ code: "processor_differs", message: expect.stringContaining("1000 cents more") }]
        })
      })
    )

    it.effect("adds seal and tail up to the balance, and a tenant computes the chain from what it can read", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const { id, plaintext: key } = yield* Features.newTenant()
        yield* billing.adjust(id, 40, 'quotes " and \\, a "ü", a line\nend')
        yield* call(id, "one", 3, 3)
        yield* call(id, "free", 0, null)
        const before = yield* read<Proof>(key, "/v1/billing/proof")
        expect(before).toMatchObject({
          balance_cents: 537,
          ledger_sum_cents: 537,
          entries: 3,
          sealed: { through: null, entries: 0, chain_hash: createHash("sha256").update(id).digest("hex") },
          tail: { entries: 3, sum_cents: 537 },
          calls: { rated_with_cost: 1, debited: 1 },
          exceptions: []
        })
        yield* anotherDay
        yield* billing.adjust(id, -7, "behind the seal")
        yield* sealAt(days)
        const sealed = yield* read<Proof>(key, "/v1/billing/proof")
        expect(sealed).toMatchObject({ entries: 4, tail: { entries: 1, sum_cents: -7 }, exceptions: [] })
        expect([sealed.sealed.entries, sealed.ledger_sum_cents]).toEqual([3, 530])
        yield* anotherDay
        const again = yield* read<Proof>(key, "/v1/billing/proof")
        expect([again.sealed.entries, again.tail, again.calls]).toEqual([
          4,
          { entries: 0, sum_cents: 0 },
          { rated_with_cost: 1, debited: 1 }
        ])
        const { text } = yield* ask("GET", "/v1/billing/ledger.csv", { key })
        expect([chainOf(id, text, 3), chainOf(id, text, 4)]).toEqual([
          sealed.sealed.chain_hash,
          again.sealed.chain_hash
        ])
        expect((yield* (yield* Proofs).verify(id)).faults).toEqual([])
      })
    )

    it.effect("asks for billing:read", () =>
      Effect.gen(function* () {
        const { caller } = yield* Features.newTenant()
        const wrong = yield* keyWith(caller, ["usage:read"])
        expect(yield* refusal("GET", "/v1/billing/proof", { key: wrong })).toEqual([403, "forbidden"])
        const right = yield* keyWith(caller, ["billing:read"])
        expect((yield* ask("GET", "/v1/billing/proof", { key: right })).status).toBe(200)
      })
    )

    it.effect("names what does not add up: a balance, an entry behind the seal, a call without its debit", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id, plaintext: key } = yield* Features.newTenant()
        const codes = Effect.map(read<Proof>(key, "/v1/billing/proof"), ({ exceptions }) =>
          exceptions.map(({ code }) => code)
        )
        expect(yield* codes).toEqual([])
        yield* call(id, "missing", 4, null)
        expect(yield* codes).toEqual(["call_not_debited"])
        yield* call(id, "too little", 4, 3)
        yield* sql`UPDATE balance SET balance_cents = balance_cents + 1 WHERE tenant_id = ${id}`
        expect(yield* codes).toEqual(["balance_differs", "call_not_debited"])
        yield* sql`UPDATE ledger SET amount_cents = amount_cents + 1 WHERE tenant_id = ${id} AND amount_cents > 0`
        expect(yield* codes).toEqual(["entry_differs", "call_not_debited"])
        expect((yield* (yield* Proofs).verify(id)).faults.map(({ code }) => code)).toContain("entry_differs")
      })
    )

    it.effect.each([
      ["an amount", "amount_cents = amount_cents + 1, balance_after_cents = balance_after_cents + 1"],
      ["a description", "description = 'another'"],
      ["a moment", "created_at = created_at + interval '1 millisecond'"],
      ["a reference", "reference_id = 'svc_call_0'"]
    ])("finds %s that was changed behind a seal", ([, change = ""]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const { id } = yield* Features.newTenant()
        yield* (yield* Billing).adjust(id, 12, "first")
        yield* anotherDay
        expect((yield* proofs.verify(id)).faults).toEqual([])
        yield* sql`UPDATE ledger SET ${sql.literal(change)} WHERE tenant_id = ${id} AND description = 'first'`
        expect((yield* proofs.verify(id)).faults.map(({ code }) => code)).toContain("seal_differs")
      })
    )

    it.effect.each([
      [
        "a seal's moment",
        "seal_differs",
        ["UPDATE ledger_seal SET through_at = through_at + interval '1 day' WHERE tenant_id = $1"]
      ],
      [
        "calls of a seal",
        "root_differs",
        ["UPDATE ledger_seal SET calls_rated = calls_rated + 1, calls_debited = calls_debited + 1 WHERE tenant_id = $1"]
      ],
      [
        "up to when a seal counts calls",
        "root_differs",
        ["UPDATE ledger_seal SET calls_until = calls_until + interval '1 hour' WHERE tenant_id = $1"]
      ],
      ["a root that says it were of an earlier version", "root_differs", ["UPDATE ledger_seal_root SET version = 1"]],
      [
        "a root of a version that nobody knows",
        "root_differs",
        ["UPDATE ledger_seal_root SET version = 3, root_hash = ''"]
      ],
      [
        "an entry in front of the first",
        "seal_differs",
        [
          `INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, ordinal, created_at)
            OVERRIDING SYSTEM VALUE SELECT id || 'x', tenant_id, cause || 'x', type, 0, 0, '', -5, created_at
            FROM ledger WHERE tenant_id = $1 LIMIT 1`
        ]
      ],
      ["an entry that was taken away", "seal_differs", ["DELETE FROM ledger WHERE tenant_id = $1"]],
      [
        "an entry that was given to another",
        "seal_differs",
        [
          "UPDATE ledger SET tenant_id = (SELECT tenant_id FROM balance WHERE tenant_id <> $1 LIMIT 1) WHERE tenant_id = $1"
        ]
      ],
      ["a balance that was taken away", "balance_differs", ["DELETE FROM balance WHERE tenant_id = $1"]],
      ["seals that were taken away", "root_differs", ["DELETE FROM ledger_seal WHERE tenant_id = $1"]],
      ["the entries of a root", "root_differs", ["UPDATE ledger_seal_root SET entries = entries + 1"]],
      ["the seals of a root", "root_differs", ["UPDATE ledger_seal_root SET seals = seals - 1"]],
      [
        "the last root, taken away",
        "root_differs",
        [
          "DELETE FROM ledger_seal_root WHERE day = (SELECT max(day) FROM ledger_seal_root)",
          // The days move in two steps over unused days, because uniqueness is checked for each row and not only at the
          // end.
          ...["ledger_seal", "ledger_seal_root"].flatMap((table) => [
            `UPDATE ${table} SET day = day - 10000`,
            `UPDATE ${table} SET day = day + 9999`
          ])
        ]
      ]
    ] as const)("names %s: %s", ([, code, changes]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const { id } = yield* Features.newTenant()
        yield* anotherDay
        const told = (faults: ReadonlyArray<{ readonly tenantId: Id.TenantId | null; readonly code: string }>) =>
          faults.flatMap((fault) => (fault.tenantId === id || fault.tenantId === null ? [fault.code] : []))
        expect(told((yield* proofs.verify(null)).faults)).toEqual([])
        const undone = Effect.gen(function* () {
          for (const change of changes) yield* sql.unsafe(change, change.includes("$1") ? [id] : [])
          return yield* Effect.fail(told((yield* proofs.verify(null)).faults))
        }).pipe(sql.withTransaction, Effect.flip)
        expect(yield* undone).toContain(code)
      })
    )

    it.effect("the check of one tenant holds its seals against the roots of their days", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const [{ id }, other] = [yield* Features.newTenant(), yield* Features.newTenant()]
        yield* anotherDay
        const codes = (of: Id.TenantId) => Effect.map(proofs.verify(of), ({ faults }) => faults.map(({ code }) => code))
        expect(yield* codes(id)).toEqual([])
        const undone = Effect.gen(function* () {
          yield* sql`UPDATE ledger_seal SET calls_debited = 7, calls_rated = 7 WHERE tenant_id = ${id}`
          const later = Features.newTenant()
          return yield* Effect.fail([yield* codes(id), yield* codes((yield* later).id), yield* codes(other.id)])
        }).pipe(sql.withTransaction, Effect.flip)
        // Every tenant has the fault, because a root does not show whose seal was changed.
        expect(yield* undone).toEqual([["root_differs"], ["root_differs"], ["root_differs"]])
      })
    )

    it.effect.each([
      ["its seals", ["DELETE FROM ledger WHERE tenant_id = $1", "DELETE FROM ledger_seal WHERE tenant_id = $1"]],
      [
        "its seals, and a balance of nothing",
        [
          "DELETE FROM ledger WHERE tenant_id = $1",
          "DELETE FROM ledger_seal WHERE tenant_id = $1",
          "UPDATE balance SET balance_cents = 0 WHERE tenant_id = $1"
        ]
      ],
      [
        "its seals and its balance",
        [
          "DELETE FROM ledger WHERE tenant_id = $1",
          "DELETE FROM ledger_seal WHERE tenant_id = $1",
          "DELETE FROM balance WHERE tenant_id = $1"
        ]
      ]
    ] as const)("the check of one tenant notices a ledger that was deleted with %s", ([, changes]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const [{ id }, other] = [yield* Features.newTenant(), yield* Features.newTenant()]
        yield* anotherDay
        const codes = (of: Id.TenantId | null) =>
          Effect.map(proofs.verify(of), ({ faults }) =>
            // The tests before have changed the ledgers of others.
            faults.flatMap(({ code, tenantId }) =>
              code === "balance_differs" || (tenantId !== null && tenantId !== id) ? [] : [[tenantId, code]]
            )
          )
        expect(yield* codes(id)).toEqual([])
        const undone = Effect.gen(function* () {
          for (const change of changes) yield* sql.unsafe(change, [id])
          const named = [yield* codes(id), yield* codes(null), yield* codes(other.id)]
          // A root that no longer names the tenant is still that of its seal.
          yield* sql`UPDATE ledger_seal_root SET tenant_ids = array_remove(tenant_ids, ${id}::text::uuid)`
          return yield* Effect.fail([...named, yield* codes(id)])
        }).pipe(sql.withTransaction, Effect.flip)
        const [root, seal] = [
          [null, "root_differs"],
          [id, "seal_differs"]
        ]
        expect(yield* undone).toEqual([[root, seal], [root, seal], [root], [root]])
      })
    )

    it.effect("a clock that was days ahead and is set back: each day is sealed, and each call is counted once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const billing = yield* Billing
        const { id, plaintext: key } = yield* Features.newTenant()
        const base = -200
        const now = (yield* Clock.currentTimeMillis) + base * dayMs
        const sealed = Effect.map(
          sql<{ readonly day: number; readonly rated: number }>`
            SELECT day - (${timestamptz(now)} AT TIME ZONE 'UTC')::date AS day, calls_rated::int AS rated
            FROM ledger_seal WHERE tenant_id = ${id} ORDER BY number`,
          (rows) => rows.map(({ day, rated }) => [day, rated])
        )
        /** A call that began this many days from now, and its debit. */
        const callAt = (days: number, debited: number | null = 2) =>
          Effect.gen(function* () {
            const callId = yield* call(id, `day ${days}`, 2, debited)
            yield* sql`UPDATE call SET initiated_at = ${timestamptz(now + days * dayMs)} WHERE id = ${callId}`
          })
        yield* callAt(-2)
        yield* sealAt(base)
        yield* callAt(0.1)
        // The clock is nine days ahead; then it is set back, and continues from there.
        yield* callAt(7)
        yield* sealAt(base + 9)
        yield* callAt(0.2, null)
        for (const day of [0, 1, 2, 3]) {
          yield* billing.adjust(id, 1, "of the day")
          yield* callAt(day + 0.3)
          yield* sealAt(base + day)
        }
        expect(yield* sealed).toEqual([
          [0, 1],
          [9, 3],
          // A sealed day is not sealed again.
          [1, 1],
          [2, 4],
          [3, 5]
        ])
        expect((yield* read<Proof>(key, "/v1/billing/proof")).calls).toEqual({ rated_with_cost: 8, debited: 7 })
        yield* sql`DELETE FROM call WHERE tenant_id = ${id}`
        const roots = (yield* proofs.verify(null)).faults.filter(({ code }) => code === "root_differs")
        expect(roots).toEqual([])
      })
    )

    it.effect("finds a seal that was made anew over changed rows, by the roots of the days", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const proofs = yield* Proofs
        const { id } = yield* Features.newTenant()
        yield* anotherDay
        const before = yield* proofs.verify(null)
        yield* sql`UPDATE ledger_seal SET chain_hash = ${"0".repeat(64)} WHERE tenant_id = ${id}`
        const after = yield* proofs.verify(null)
        expect(before.faults.map(({ code }) => code)).not.toContain("root_differs")
        expect(after.faults.map(({ code }) => code)).toContain("root_differs")
        expect(after.rootHash).toBe(before.rootHash)
        yield* sql`DELETE FROM ledger_seal WHERE tenant_id = ${id}`
      })
    )
  })
})
