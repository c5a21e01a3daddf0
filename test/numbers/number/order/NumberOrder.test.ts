import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import { Numbers } from "../../../../src/numbers/number/Number.ts"
import type { NumberOrderView } from "../../../../src/numbers/number/NumberView.ts"
import * as Features from "../../../support/service/Features.ts"

/** These numbers have a separate country, so that tests do not share any. */
const country = "XF"
let last = 100

/** A number of the inventory with nothing up front and this price of a month. */
const offered = Effect.fnUntraced(function* (cents: number, upfront = 0) {
  const phoneNumber = `+4930901${++last}`
  const entry = { phoneNumber, countryCode: country, numberType: "local" as const, nationalDestinationCode: null }
  const place = { region: null, locality: null, rateCenter: null, features: ["voice"] }
  yield* (yield* Numbers).importInventory([{ ...entry, ...place, upfrontCostCents: upfront, monthlyCostCents: cents }])
  return phoneNumber
})

/** A tenant with this balance, and the requests of its tests. */
const tenant = Effect.fnUntraced(function* (cents: number) {
  const sql = yield* SqlClient.SqlClient
  const numbers = yield* Numbers
  const billing = yield* Billing
  const { caller, id } = yield* Features.newTenant()
  const credit = Effect.fnUntraced(function* (more: number) {
    yield* billing.adjust(id, more, "test")
    yield* (yield* Accounts).moneyMoved(id)
  })
  if (cents !== 500) yield* credit(cents - 500)
  const order = Effect.fnUntraced(function* (...phoneNumbers: ReadonlyArray<string>) {
    const kind = { countryCode: country, numberType: "local" as const, routeId: null, customerReference: null }
    const { body } = yield* numbers.order(caller, { ...kind, phoneNumbers }, null)
    const { id: orderId } = JSON.parse(body ?? "") as NumberOrderView
    return yield* numbers.findOrder(id, orderId)
  })
  const owned = Effect.fnUntraced(function* (phoneNumber: string) {
    const { results } = yield* numbers.list(id, { phoneNumber, status: "active" }, { limit: 1, offset: 0 })
    return results[0] ?? expect.unreachable(phoneNumber)
  })
  return {
    id,
    credit,
    order,
    owned,
    release: (phoneNumber: string) =>
      Effect.flatMap(owned(phoneNumber), (number) => numbers.release(caller, number.id, null)),
    refusal: (...phoneNumbers: ReadonlyArray<string>) => Effect.flip(order(...phoneNumbers)),
    /** Lets time pass, so that the second month of the number begins this much later than now. */
    age: (phoneNumber: string, dueIn: string) => sql`
      UPDATE phone_number SET activated_at = now() + ${dueIn}::text::interval - interval '1 month',
        next_renewal_at = now() + ${dueIn}::text::interval, check_at = now() + ${dueIn}::text::interval
      WHERE tenant_id = ${id} AND phone_number = ${phoneNumber} AND status = 'active'`,
    balance: Effect.map(billing.balance(id), (view) => view.balance_cents),
    booked: Effect.map(
      sql<{ readonly type: string; readonly cents: number }>`
        SELECT type, amount_cents::int AS cents FROM ledger
        WHERE tenant_id = ${id} AND type IN ('number_order', 'number_renewal', 'refund') ORDER BY ordinal`,
      (rows) => rows.map(({ cents, type }) => [type, cents])
    )
  }
})

/** Runs one sweep of the renewals. */
const sweep = Effect.gen(function* () {
  const jobs = yield* Jobs
  const sql = yield* SqlClient.SqlClient
  const kind = "number.renewals"
  yield* sql.withTransaction(jobs.enqueue({ kind, key: kind, tenantId: null }))
  yield* jobs.runNow(kind, kind)
  yield* sql`DELETE FROM job WHERE kind = ${kind}`
  for (let round = 0; round < 3; round++) yield* jobs.poll
})

describe("the first month of a number (guide/numbers.md#renewals)", () => {
  layer(Features.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect("is paid with the order: three months cost three, released before each renewal and ordered again", () =>
      Effect.gen(function* () {
        const world = yield* tenant(10_000)
        const phone = yield* offered(1_500)
        for (let month = 0; month < 3; month++) {
          const order = yield* world.order(phone)
          expect(order).toMatchObject({ upfront_cost_cents: 0, monthly_cost_cents: 1_500, debited_cents: 1_500 })
          yield* world.age(phone, "1 minute")
          yield* sweep
          yield* world.release(phone)
        }
        expect(yield* world.booked).toEqual(
          ["number_order", "number_order", "number_order"].map((type) => [type, -1_500])
        )
        expect(yield* world.balance).toBe(5_500)
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("must be covered beside the upfront costs of all numbers of the order", () =>
      Effect.gen(function* () {
        const world = yield* tenant(500)
        const [one, two] = [yield* offered(150, 100), yield* offered(150, 101)]
        expect((yield* world.refusal(one, two)).code).toBe("insufficient_balance")
        expect(yield* world.booked).toEqual([])
        yield* world.credit(1)
        const order = yield* world.order(one, two)
        expect(order).toMatchObject({ upfront_cost_cents: 201, monthly_cost_cents: 300, debited_cents: 501 })
        expect(yield* world.balance).toBe(0)
      })
    )

    it.effect("comes back with a number that could not be activated, at the price that was paid", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const world = yield* tenant(500)
        const [one, two] = [yield* offered(150, 20), yield* offered(30, 10)]
        // The supply does not find the number any more, and the operator has changed its price meanwhile.
        yield* sql`
          CREATE FUNCTION withdraw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            DELETE FROM inventory WHERE phone_number = NEW.phone_number;
            NEW.monthly_cost_cents := 7;
            RETURN NEW;
          END $$`
        yield* sql.unsafe(
          `CREATE TRIGGER withdraw BEFORE INSERT ON phone_number FOR EACH ROW WHEN (NEW.phone_number = '${one}')
            EXECUTE FUNCTION withdraw()`
        )
        const order = yield* world
          .order(one, two)
          .pipe(Effect.ensuring(Effect.orDie(sql`DROP FUNCTION withdraw CASCADE`)))
        expect(order).toMatchObject({ status: "partial", debited_cents: 210, refunded_cents: 170 })
        expect(yield* world.booked).toEqual([
          ["number_order", -210],
          ["refund", 170]
        ])
      })
    )
  })
})

describe("a month that is owed (guide/numbers.md#ordering)", () => {
  layer(Features.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    const ways: Record<
      string,
      (
        world: Effect.Success<ReturnType<typeof tenant>>,
        phone: string
      ) => Effect.Effect<unknown, unknown, Numbers | Jobs | SqlClient.SqlClient>
    > = {
      "its tenant releases it": (world, phone) => world.release(phone),
      "the operator takes it": (_, phone) => Effect.flatMap(Numbers, (numbers) => numbers.take(phone, null, false)),
      "it is ported out": (_, phone) => Effect.flatMap(Numbers, (numbers) => numbers.portOut(phone, null)),
      "it is released after 30 days without payment": Effect.fnUntraced(function* (world, phone) {
        const sql = yield* SqlClient.SqlClient
        yield* sweep
        yield* sql`UPDATE phone_number SET unpaid_since = unpaid_since - interval '8 days',
          check_at = check_at - interval '8 days' WHERE phone_number = ${phone} AND unpaid_since IS NOT NULL`
        yield* sweep
        yield* sql`UPDATE phone_number SET unpaid_suspended_at = unpaid_suspended_at - interval '24 days',
          check_at = check_at - interval '24 days' WHERE phone_number = ${phone} AND unpaid_since IS NOT NULL`
        yield* sweep
        expect(
          (yield* (yield* Numbers).list(world.id, { phoneNumber: phone }, { limit: 1, offset: 0 })).results[0]
        ).toMatchObject({ status: "released" })
      }),
      "it is still active": () => sweep
    }
    const lost = Object.entries(ways).filter(([name]) => name !== "it is still active")
    it.effect.each(lost)("is paid by money that arrives, though nothing is ordered again, where %s", ([, lose]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const isReported of [true, false]) {
          const world = yield* tenant(2_000)
          const phone = yield* offered(1_500)
          yield* world.order(phone)
          yield* world.age(phone, "-1 day")
          yield* Effect.orDie(lose(world, phone))
          yield* sweep
          expect(yield* world.balance).toBe(500)
          yield* world.credit(1_300)
          // The process may die before it has written the job.
          if (!isReported) {
            yield* sql`DELETE FROM job WHERE kind = 'number.renewal'`
            yield* sweep
          }
          yield* Effect.repeat((yield* Jobs).poll, {
            until: () => Effect.map(world.balance, (cents) => cents !== 1_800)
          })
          for (let time = 0; time < 2; time++) yield* sweep
          expect(yield* world.booked).toEqual([
            ["number_order", -1_500],
            ["number_renewal", -1_500]
          ])
          expect(yield* world.balance).toBe(300)
          const owed = yield* sql`
            SELECT FROM phone_number WHERE tenant_id = ${world.id} AND (owed_from IS NOT NULL OR owed_until IS NOT NULL)`
          expect(owed).toEqual([])
        }
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("is paid before newer ones, as far as the money lasts", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const world = yield* tenant(3_000)
        const phones = [yield* offered(1_000), yield* offered(1_000), yield* offered(1_000)]
        yield* world.order(...phones)
        for (const [at, phone] of phones.entries()) {
          yield* world.age(phone, `-${[2, 3, 1][at]} days`)
          yield* world.release(phone)
        }
        yield* world.credit(2_000)
        yield* sweep
        const owing = yield* sql<{ readonly phone: string }>`
          SELECT phone_number AS phone FROM phone_number WHERE tenant_id = ${world.id} AND owed_from IS NOT NULL`
        expect([yield* world.balance, owing.map(({ phone }) => phone)]).toEqual([0, [phones[2]]])
      })
    )

    /** Months that the tenant owes, of as many numbers, a cent each. */
    const owing = (world: Effect.Success<ReturnType<typeof tenant>>, numbers: number) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
            upfront_cost_cents, monthly_cost_cents, activated_at, released_at, owed_from, owed_until, created_at, updated_at)
          SELECT 'svc_did_' || md5(${world.id} || n), ${world.id}::text::uuid, '+4930' || (10000000 + n), ${country}, 'local',
            'released', '{voice}', 0, 1, now() - interval '2 months', now(), now() - n * interval '1 minute',
            now() - n * interval '1 minute', now(), now() FROM generate_series(1, ${numbers}::int) n`
      )

    it.effect("of more numbers than one transaction pays is paid before the next order, or there is none", () =>
      Effect.gen(function* () {
        const world = yield* tenant(2_000)
        yield* owing(world, 1_100)
        const phone = yield* offered(1_000)
        for (let time = 0; time < 2; time++) expect((yield* world.refusal(phone)).code).toBe("insufficient_balance")
        yield* world.credit(100)
        yield* world.order(phone)
        const booked = yield* world.booked
        expect([booked.length, yield* world.balance, booked.at(-1)]).toEqual([1_101, 0, ["number_order", -1_000]])
        expect(new Set(booked.slice(0, -1).map(([type, cents]) => `${type} ${cents}`))).toEqual(
          new Set(["number_renewal -1"])
        )
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect.each(Object.entries(ways))("is paid before the next order, once, where %s", ([, lose]) =>
      Effect.gen(function* () {
        const world = yield* tenant(2_000)
        const [phone, other] = [yield* offered(1_500), yield* offered(200)]
        yield* world.order(phone)
        yield* world.age(phone, "-1 day")
        yield* Effect.orDie(lose(world, phone))
        // 500 are left, which pay for the other number and not for the month that is owed.
        const refused = yield* world.refusal(other)
        expect(refused.code).toBe("insufficient_balance")
        expect(refused.message).toContain("1500 cents")
        expect(yield* world.booked).toEqual([["number_order", -1_500]])
        yield* world.credit(1_300)
        yield* world.order(other)
        expect(yield* world.booked).toEqual([
          ["number_order", -1_500],
          ["number_renewal", -1_500],
          ["number_order", -200]
        ])
        expect(yield* world.balance).toBe(100)
        // Nothing is owed any more.
        yield* world.credit(200)
        yield* world.order(yield* offered(200))
        expect(yield* world.balance).toBe(100)
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )
  })
})

describe("a number that the operator takes for good (guide/numbers.md#releasing)", () => {
  layer(Features.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect("is kept from its last owner, who released it and ordered it again some days before", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const world = yield* tenant(2_000)
        const phone = yield* offered(100)
        const search = { countryCode: country, numberType: "local", contains: phone, limit: 5 } as const
        yield* world.order(phone)
        yield* world.release(phone)
        expect(yield* numbers.search(world.id, search)).toHaveLength(1)
        yield* world.order(phone)
        yield* numbers.take(phone, "fraud", false)
        expect(yield* numbers.search(world.id, search)).toEqual([])
        expect((yield* world.refusal(phone)).code).toBe("order_invalid")
        expect(yield* numbers.search((yield* tenant(500)).id, search)).toEqual([])
      })
    )
  })
})
