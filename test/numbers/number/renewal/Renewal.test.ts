import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import * as Id from "../../../../src/domain/Id.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import { Numbers } from "../../../../src/numbers/number/Number.ts"
import * as NumberRepo from "../../../../src/numbers/number/NumberRepo.ts"
import * as Renewal from "../../../../src/numbers/number/renewal/Renewal.ts"
import * as Features from "../../../support/service/Features.ts"

/** These numbers have a separate country, so that tests do not share any. */
const country = "XR"
let last = 100

/** A tenant whose numbers have this monthly price, and are due since this many days ago. */
const due = Effect.fnUntraced(function* (
  numbers: ReadonlyArray<{ readonly cents: number; readonly daysAgo: number }>,
  fields: { readonly balance?: number } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const doors = yield* Numbers
  const { caller, id } = yield* Features.newTenant()
  yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${id}`
  // An order pays the first month and the months that are owed, so it comes before the price and the age.
  const ordered = yield* Effect.forEach(numbers, ({ cents, daysAgo }) =>
    Effect.gen(function* () {
      const phoneNumber = `+13125560${++last}`
      const entry = { phoneNumber, countryCode: country, numberType: "local" as const, nationalDestinationCode: null }
      const place = { region: null, locality: null, rateCenter: null, features: ["voice"] }
      yield* doors.importInventory([{ ...entry, ...place, upfrontCostCents: 0, monthlyCostCents: 0 }])
      const order = { phoneNumbers: [phoneNumber], countryCode: country, numberType: "local" as const }
      yield* doors.order(caller, { ...order, routeId: null, customerReference: null }, null)
      return { cents, daysAgo, phoneNumber }
    })
  )
  const owned = yield* Effect.forEach(ordered, ({ cents, daysAgo, phoneNumber }) =>
    Effect.gen(function* () {
      const [row] = yield* sql<{ readonly id: Id.NumberId }>`
        UPDATE phone_number SET monthly_cost_cents = ${cents}, activated_at = now() - ${daysAgo} * interval '1 day' - interval '31 days',
          next_renewal_at = now() - ${daysAgo} * interval '1 day', check_at = now() - ${daysAgo} * interval '1 day'
        WHERE phone_number = ${phoneNumber} RETURNING id`
      return { id: row?.id ?? Id.derive("none", "did"), phoneNumber }
    })
  )
  if (fields.balance !== undefined) yield* (yield* Billing).adjust(id, fields.balance - 500 || 1, "test")
  yield* (yield* Accounts).moneyMoved(id)
  const balance = Effect.map((yield* Billing).balance(id), (view) => view.balance_cents)
  const renewals = sql<{ readonly cause: string; readonly cents: number; readonly after: number }>`
    SELECT cause, amount_cents::int AS cents, balance_after_cents::int AS after FROM ledger
    WHERE tenant_id = ${id} AND type = 'number_renewal' ORDER BY ordinal`
  const show = (number: { readonly id: Id.NumberId } | undefined) =>
    doors.find(id, number?.id ?? Id.derive("none", "did"))
  /** Lets days pass for unpaid numbers. */
  const pass = (days: number) => sql`
    UPDATE phone_number SET unpaid_since = unpaid_since - ${days} * interval '1 day',
      unpaid_suspended_at = unpaid_suspended_at - ${days} * interval '1 day',
      check_at = check_at - ${days} * interval '1 day' WHERE tenant_id = ${id} AND unpaid_since IS NOT NULL`
  return { id, caller, numbers: owned, balance, renewals, show, pass }
})

/** Runs one sweep, and returns its result and its letters. */
const sweep = Effect.gen(function* () {
  const jobs = yield* Jobs
  const sql = yield* SqlClient.SqlClient
  const kind = "number.renewals"
  yield* sql.withTransaction(jobs.enqueue({ kind, key: kind, tenantId: null }))
  yield* jobs.runNow(kind, kind)
  yield* sql`DELETE FROM job WHERE kind = ${kind}`
  for (let round = 0; round < 3; round++) yield* jobs.poll
})

const dayMs = 86_400_000
const mailsTo = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
  const sql = yield* SqlClient.SqlClient
  const [member] = yield* sql<{ readonly email: string }>`SELECT email FROM member WHERE tenant_id = ${tenantId}`
  return Features.mails
    .filter(({ to }) => to.address === member?.email)
    .filter(({ subject }) => subject.includes("phone number"))
})

describe("the months of a number (guide/numbers.md#renewals)", () => {
  layer(Features.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect("are debited when they are due, each once", () =>
      Effect.gen(function* () {
        const { balance, numbers, renewals, show } = yield* due([{ cents: 120, daysAgo: 1 }])
        const before = yield* show(numbers[0])
        yield* sweep
        yield* sweep
        const dueAt = before.next_renewal_at ?? ""
        expect(yield* renewals).toEqual([{ cause: `renewal:${numbers[0]?.id}:${dueAt}`, cents: -120, after: 380 }])
        expect(yield* balance).toBe(380)
        const after = yield* show(numbers[0])
        expect(Date.parse(after.next_renewal_at ?? "")).toBeGreaterThan(Date.now() + 26 * dayMs)
        expect(after).toEqual({ ...before, next_renewal_at: after.next_renewal_at, updated_at: after.updated_at })
      })
    )

    it.effect("of a service that was away are debited in their order, as far as there is money", () =>
      Effect.gen(function* () {
        const { balance, id, numbers, renewals, show } = yield* due([{ cents: 200, daysAgo: 70 }])
        const first = (yield* show(numbers[0])).next_renewal_at ?? ""
        yield* sweep
        const rows = yield* renewals
        expect(rows.map(({ after, cents }) => [cents, after])).toEqual([
          [-200, 300],
          [-200, 100]
        ])
        expect(rows[0]?.cause).toContain(first)
        expect((rows[1]?.cause ?? "") > (rows[0]?.cause ?? "")).toBe(true)
        const owed = yield* show(numbers[0])
        expect(Date.parse(owed.next_renewal_at ?? "")).toBeLessThan(Date.now())
        expect(owed.suspended_at).toBeNull()
        // Money that arrives pays the debt without a sweep.
        yield* (yield* Billing).adjust(id, 150, "test")
        yield* (yield* Accounts).moneyMoved(id)
        yield* (yield* Jobs).poll
        expect(yield* balance).toBe(50)
        expect(Date.parse((yield* show(numbers[0])).next_renewal_at ?? "")).toBeGreaterThan(Date.now())
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("go into the credit limit and no further, whatever the caps say and however many ask at once", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const accounts = yield* Accounts
        const world = yield* due(
          Array.from({ length: 10 }, () => ({ cents: 100, daysAgo: 1 })),
          { balance: 250 }
        )
        yield* accounts.setQuota(
          world.id,
          { dailySpendCapCents: 0, monthlySpendCapCents: 0 },
          { type: "operator", name: "operator" }
        )
        yield* billing.setCreditLimit(world.id, 300)
        yield* accounts.moneyMoved(world.id)
        const repo = yield* NumberRepo.make
        const renewal = yield* Renewal.make({ forget: () => Effect.void })
        const rows = yield* repo.due(world.id, Date.now(), null, 100)
        const outcomes = yield* Effect.forEach(
          [...rows, ...rows, ...rows],
          (row) => renewal.settle({ ...row, tenantId: world.id }),
          { concurrency: "unbounded" }
        )
        expect(outcomes).toContain(false)
        yield* sweep
        expect(yield* world.renewals).toHaveLength(5)
        expect(new Set((yield* world.renewals).map(({ cause }) => cause)).size).toBe(5)
        expect(yield* world.balance).toBe(-250)
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("leave what live calls reserve, and are paid when it is free", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const world = yield* due([{ cents: 200, daysAgo: 1 }])
        const call = Id.derive("talking", "order")
        yield* accounts.reserve(world.id, call, { purpose: "order", offers: [350] })
        yield* sweep
        expect(yield* world.renewals).toEqual([])
        yield* accounts.released(world.id, call)
        yield* sweep
        expect(yield* world.renewals).toHaveLength(1)
      })
    )

    it.effect("that are not paid bring letters, rest after 7 days and release after 30; money ends it", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const sql = yield* SqlClient.SqlClient
        const world = yield* due(
          [
            { cents: 300, daysAgo: 1 },
            { cents: 400, daysAgo: 1 }
          ],
          { balance: 200 }
        )
        const [one, other] = world.numbers
        const subjects = Effect.map(mailsTo(world.id), (mails) => mails.map(({ subject }) => subject))
        const due2 = "The month of 2 phone numbers is not paid"
        yield* sweep
        yield* sweep
        expect(yield* subjects).toEqual([due2])
        const [letter] = yield* mailsTo(world.id)
        expect(letter?.text).toContain(`${one?.phoneNumber} ($3.00)`)
        expect(letter?.text).toContain("$7.00 together")
        yield* world.pass(3)
        yield* sweep
        yield* world.pass(3)
        yield* sweep
        expect(yield* subjects).toEqual([due2, due2, due2])
        expect(yield* numbers.callingFrom(world.id, one?.phoneNumber ?? "")).not.toBeNull()
        yield* world.pass(1)
        yield* sweep
        expect((yield* subjects).at(-1)).toBe("2 phone numbers rest: the month is not paid")
        expect((yield* world.show(one)).suspended_at).not.toBeNull()
        expect(yield* numbers.callingFrom(world.id, one?.phoneNumber ?? "")).toBeNull()
        expect(yield* numbers.byDialled(one?.phoneNumber ?? "")).toMatchObject({ isSuspended: true })
        yield* (yield* Billing).adjust(world.id, 150, "test")
        yield* (yield* Accounts).moneyMoved(world.id)
        yield* (yield* Jobs).poll
        expect((yield* world.show(one)).suspended_at).toBeNull()
        expect(yield* numbers.callingFrom(world.id, one?.phoneNumber ?? "")).not.toBeNull()
        expect(yield* world.balance).toBe(50)
        yield* world.pass(23)
        yield* sweep
        expect((yield* subjects).at(-1)).toBe("A phone number was released")
        expect(yield* world.show(other)).toMatchObject({ status: "released", next_renewal_at: null })
        expect(yield* numbers.byDialled(other?.phoneNumber ?? "")).toBeNull()
        const lines = yield* sql<{ readonly action: string; readonly phone: string }>`
          SELECT a.action, n.phone_number AS phone FROM audit a JOIN phone_number n ON n.id = a.resource_id
          WHERE a.tenant_id = ${world.id} AND a.resource_type = 'number' AND a.actor_type = 'system' ORDER BY a.ordinal`
        const told = lines.map(({ action, phone }) => `${phone === one?.phoneNumber ? "one" : "other"} ${action}`)
        // Two that are due together are suspended in the order of their ids.
        expect(told.slice(0, 2).toSorted()).toEqual(["one number.suspended", "other number.suspended"])
        expect(told.slice(2)).toEqual(["one number.resumed", "other number.released"])
        const search = {
          countryCode: country,
          numberType: "local",
          contains: other?.phoneNumber ?? "",
          limit: 5
        } as const
        expect(yield* numbers.search(world.id, search)).toHaveLength(1)
        expect(yield* numbers.search((yield* Features.newTenant()).id, search)).toHaveLength(0)
        yield* sweep
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("end with the workspace: its numbers are released, and nothing is charged any more", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const accounts = yield* Accounts
        const sql = yield* SqlClient.SqlClient
        const open = yield* due([{ cents: 10, daysAgo: -5 }])
        const world = yield* due([
          { cents: 10, daysAgo: 1 },
          { cents: 10, daysAgo: -5 }
        ])
        yield* accounts.close(world.id, { type: "operator", name: "operator" })
        yield* sweep
        for (const number of world.numbers)
          expect(yield* world.show(number)).toMatchObject({ status: "released", next_renewal_at: null })
        expect(yield* numbers.byDialled(world.numbers[1]?.phoneNumber ?? "")).toBeNull()
        expect(yield* world.renewals).toEqual([])
        expect((yield* open.show(open.numbers[0])).status).toBe("active")
        const lines = yield* sql`SELECT FROM audit WHERE tenant_id = ${world.id} AND action = 'number.released'`
        expect(lines.length).toBe(2)
      })
    )

    it.effect("of many numbers and many tenants are all paid, more than are read at once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const loud = yield* due([{ cents: 1, daysAgo: 2 }])
        const quiet = yield* due([{ cents: 1, daysAgo: 1 }])
        yield* sql`INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
            upfront_cost_cents, monthly_cost_cents, activated_at, next_renewal_at, check_at, created_at, updated_at)
          SELECT 'svc_did_' || md5('many' || n), ${loud.id}, '+1312557' || (1000 + n), ${country}, 'local', 'active', '{voice}',
            0, 1, now() - interval '33 days', now() - interval '2 days', now() - interval '2 days', now(), now()
          FROM generate_series(1, 249) n`
        yield* sweep
        expect(yield* quiet.renewals).toHaveLength(1)
        expect(yield* loud.renewals).toHaveLength(250)
        expect(yield* loud.balance).toBe(250)
        const [left] = yield* sql<{ readonly left: number }>`
          SELECT count(*)::int AS left FROM phone_number WHERE tenant_id = ${loud.id} AND check_at <= now()`
        expect(left?.left).toBe(0)
      })
    )
  })
})
