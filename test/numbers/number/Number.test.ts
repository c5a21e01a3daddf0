import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import type { NumberOrderView } from "../../../src/numbers/number/NumberView.ts"
import { empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"
import * as SeenEvent from "../../support/SeenEvent.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const us = { countryCode: "US", numberType: "local", routeId: null, customerReference: null } as const
const search = { countryCode: "US", numberType: "local", limit: 100 } as const
const nobody = Ids.tenant("0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d")
const placed = (body: string | null) => JSON.parse(body ?? "") as NumberOrderView

/** Each test has numbers of a separate country, so that tests do not share any. */
const entry = (phoneNumber: string, fields: { readonly countryCode: string; readonly cents?: number }) => ({
  phoneNumber,
  countryCode: fields.countryCode,
  numberType: "local" as const,
  nationalDestinationCode: null,
  region: null,
  locality: null,
  rateCenter: null,
  features: ["voice"],
  upfrontCostCents: fields.cents ?? 100,
  monthlyCostCents: 0
})

const finished = Effect.fnUntraced(function* (tenantId: Id.TenantId, orderId: Id.OrderId) {
  const numbers = yield* Numbers
  while (true) {
    const order = yield* numbers.findOrder(tenantId, orderId)
    if (order.status !== "pending") return order
    yield* Effect.sleep("2 millis")
  }
})

const bodiesOf = (orderId: Id.OrderId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{
      readonly body: string
    }>`SELECT body FROM event WHERE entity_id = ${orderId} ORDER BY sequence`
    for (const { body } of rows) SeenEvent.checkBody(body)
    return rows.map(
      (row) => JSON.parse(row.body) as { readonly event_type: string; readonly data: Record<string, unknown> }
    )
  })

describe("inventory (guide/numbers.md#the-inventory)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("offers the starter numbers of an empty database and never the simulated phones", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const found = yield* numbers.search(nobody, search)
        expect(found.length).toBe(50)
        expect(found[0]).toMatchObject({
          phone_number: "+12025550150",
          upfront_cost_cents: 0,
          monthly_cost_cents: 100,
          reservable: true
        })
        const entries = [entry("+12025550100", { countryCode: "US" })]
        expect((yield* Effect.flip(numbers.importInventory(entries))).code).toBe("invalid_request")
      })
    )

    it.effect.each([
      { filter: { nationalDestinationCode: "202" }, count: 50 },
      { filter: { nationalDestinationCode: "212" }, count: 0 },
      { filter: { contains: "555015" }, count: 10 },
      { filter: { startsWith: "202" }, count: 50 },
      { filter: { startsWith: "1202" }, count: 0 },
      { filter: { startsWith: "+1202555019" }, count: 10 },
      { filter: { endsWith: "77" }, count: 1 },
      { filter: { locality: "washington", region: "dc" }, count: 50 },
      { filter: { features: ["voice"] }, count: 50 },
      { filter: { features: ["voice", "sms"] }, count: 0 },
      { filter: { limit: 3 }, count: 3 }
    ])("finds $count with $filter", ({ count, filter }) =>
      Effect.gen(function* () {
        expect((yield* (yield* Numbers).search(nobody, { ...search, ...filter })).length).toBe(count)
      })
    )

    it.effect("knows no price where the operator has no number of the kind", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const { caller } = yield* Features.newTenant()
        expect((yield* Effect.flip(numbers.search(nobody, { ...search, countryCode: "DE" }))).code).toBe(
          "no_pricing_tier_configured"
        )
        const order = { ...us, countryCode: "DE", phoneNumbers: ["+4930123456"] }
        expect((yield* Effect.flip(numbers.order(caller, order, null))).code).toBe("no_pricing_tier_configured")
      })
    )
  })
})

describe("number orders (guide/numbers.md#ordering)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("debits first, answers pending, then activates and says so", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const { caller, id } = yield* Features.newTenant()
        yield* (yield* Accounts).overview(id)
        expect(yield* numbers.byDialled("+12025550150")).toBeNull()
        // The number is looked up all the time: a value from before a change must not be cached after it.
        const looking = yield* Effect.forkChild(Effect.forever(numbers.byDialled("+12025550150")))
        const { body, status } = yield* numbers.order(
          caller,
          { ...us, phoneNumbers: ["+12025550150", "+12025550151"] },
          null
        )
        const order = placed(body)
        expect(status).toBe(201)
        expect(order).toMatchObject({
          status: "pending",
          upfront_cost_cents: 0,
          monthly_cost_cents: 200,
          debited_cents: 200,
          refunded_cents: 0,
          completed_at: null
        })
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(300)
        expect((yield* (yield* Accounts).overview(id)).tally.balanceCents).toBe(300)

        const done = yield* finished(id, order.id)
        yield* Fiber.interrupt(looking)
        expect(done.status).toBe("completed")
        expect(done.phone_numbers.map((n) => n.status)).toStrictEqual(["active", "active"])
        expect(done.phone_numbers.map((n) => Object.keys(n).join())).toStrictEqual(
          order.phone_numbers.map(() => "id,phone_number,status,failure_reason")
        )
        const owner = yield* numbers.byDialled("+12025550150")
        expect(owner).toMatchObject({ tenantId: id, status: "active", routeId: null })
        expect(yield* numbers.callingFrom(id, "+12025550150")).not.toBeNull()
        const number = yield* numbers.find(id, owner?.numberId ?? Ids.number(""))
        expect(number).toMatchObject({ status: "active", order_id: order.id, source: "order" })
        expect(Date.parse(number.next_renewal_at ?? "")).toBeGreaterThan(
          Date.parse(number.activated_at ?? "") + 27 * 86_400_000
        )
        const events = yield* bodiesOf(order.id)
        expect(events.map((event) => event.event_type)).toStrictEqual(["number_order.completed"])
        expect(events[0]?.data).toMatchObject({ order_id: order.id, status: "completed", total_cents: 200 })
      })
    )

    it.effect("refuses without a trace: a number twice, taken, simulated or unknown, and one that cannot be paid", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const { caller, id } = yield* Features.newTenant()
        const code = (phoneNumbers: ReadonlyArray<string>) =>
          Effect.map(Effect.flip(numbers.order(caller, { ...us, phoneNumbers }, null)), ({ code }) => code)
        yield* numbers.order(caller, { ...us, phoneNumbers: ["+12025550152"] }, null)
        expect(yield* code(["+12025550153", "+12025550153"])).toBe("unprocessable")
        expect(yield* code(["+12025550153", "+12025550152"])).toBe("order_invalid")
        expect(yield* code(["+12025550153", "+12025550100"])).toBe("order_invalid")
        expect(yield* code(["+12025550153", "+15005550006"])).toBe("order_invalid")
        expect(yield* code(["153", "154", "155", "156", "157"].map((n) => `+12025550${n}`))).toBe(
          "insufficient_balance"
        )
        const route = { ...us, phoneNumbers: ["+12025550153"], routeId: Ids.route(`svc_route_${"0".repeat(32)}`) }
        expect((yield* Effect.flip(numbers.order(caller, route, null))).code).toBe("not_found")
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(400)
        expect((yield* numbers.orders(id, {}, { limit: 20, offset: 0 })).count).toBe(1)
        expect(yield* numbers.byDialled("+12025550153")).toBeNull()
      })
    )

    it.effect("lets one of many tenants have a number, and only that one pays", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const billing = yield* Billing
        yield* numbers.importInventory(
          Array.from({ length: 12 }, (_, n) => entry(`+13125551${100 + n}`, { countryCode: "XA", cents: 10 }))
        )
        const tenants = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Features.newTenant())
        // All want the same pair at the same time, in either order, and pairs overlap. None may wait forever.
        const attempts = yield* Effect.forEach(
          Array.from({ length: 72 }, (_, n) => n),
          (n) => {
            const tenant = tenants[n % 6] ?? expect.unreachable("no tenant")
            const at = Math.floor(n / 6)
            const pair = [`+13125551${100 + at}`, `+13125551${100 + ((at + 1) % 12)}`]
            const phoneNumbers = n % 2 === 0 ? pair : pair.toReversed()
            const order = numbers.order(tenant.caller, { ...us, countryCode: "XA", phoneNumbers }, null)
            return Effect.map(Effect.result(order), (result) => ({ phoneNumbers, result, tenant }))
          },
          { concurrency: "unbounded" }
        )
        const won = attempts.filter(({ result }) => result._tag === "Success")
        const sold = won.flatMap(({ phoneNumbers }) => phoneNumbers)
        expect(new Set(sold).size).toBe(sold.length)
        for (const { result } of attempts)
          if (result._tag === "Failure") expect(result.failure.code).toBe("order_invalid")
        for (const tenant of tenants) {
          const paid =
            won.filter((attempt) => attempt.tenant === tenant).flatMap(({ phoneNumbers }) => phoneNumbers).length * 10
          expect((yield* billing.balance(tenant.id)).balance_cents).toBe(500 - paid)
        }
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect(
      "never spends more than there is, and the ledger adds up at every row, under orders and credits at once",
      () =>
        Effect.gen(function* () {
          const numbers = yield* Numbers
          const billing = yield* Billing
          yield* numbers.importInventory(
            Array.from({ length: 40 }, (_, n) => entry(`+13125552${100 + n}`, { countryCode: "XB", cents: 7 * n }))
          )
          const { caller, id } = yield* Features.newTenant()
          yield* Effect.forEach(
            Array.from({ length: 40 }, (_, n) => n),
            (n) =>
              n % 4 === 0
                ? Effect.asVoid(billing.adjust(id, n - 20 || 1, "test"))
                : Effect.ignore(
                    numbers.order(caller, { ...us, countryCode: "XB", phoneNumbers: [`+13125552${100 + n}`] }, null)
                  ),
            { concurrency: 16 }
          )
          expect(yield* Features.ledgerAddsUp).toBe(true)
          const { results } = yield* billing.ledger(id, { type: "number_order" }, { limit: 100, offset: 0 })
          for (const row of results) expect(row.balance_after_cents).toBeGreaterThanOrEqual(0)
          expect((yield* numbers.list(id, { countryCode: "XB" }, { limit: 100, offset: 0 })).count).toBe(results.length)
        })
    )

    it.effect("tells the account of a debit whose answer was lost, once the order is finished", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const accounts = yield* Accounts
        const { id } = yield* Features.newTenant()
        expect((yield* accounts.overview(id)).tally.balanceCents).toBe(500)
        const orderId = Ids.order(`svc_order_${"b".repeat(32)}`)
        const debit = {
          tenantId: id,
          type: "number_order",
          amountCents: -100,
          referenceType: null,
          referenceId: null
        } as const
        yield* sql`INSERT INTO number_order (id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
          monthly_cost_cents, created_at) VALUES (${orderId}, ${id}, 'pending', 'US', 'local', '[]', 100, 100, now())`
        const money = [
          { ...debit, id: Ids.ledgerEntry("svc_ledger_lost"), cause: `number_order:${orderId}`, description: "", at: 0 }
        ]
        yield* (yield* Journal).commit({ ...empty, money })
        const jobs = yield* Jobs
        yield* jobs.enqueue({ kind: "number_order.activation", key: orderId, tenantId: id })
        yield* jobs.poll
        expect((yield* accounts.overview(id)).tally.balanceCents).toBe(400)
      })
    )

    it.effect("shows a tenant nothing of another's", () =>
      Effect.gen(function* () {
        const numbers = yield* Numbers
        const mine = yield* Features.newTenant()
        const other = yield* Features.newTenant()
        const order = placed((yield* numbers.order(mine.caller, { ...us, phoneNumbers: ["+12025550190"] }, null)).body)
        expect((yield* Effect.flip(numbers.findOrder(other.id, order.id))).code).toBe("not_found")
        const number = order.phone_numbers[0]?.id ?? Ids.number("")
        expect((yield* Effect.flip(numbers.find(other.id, number))).code).toBe("number_not_found")
        expect(yield* numbers.callingFrom(other.id, "+12025550190")).toBeNull()
        expect((yield* numbers.list(other.id, {}, { limit: 20, offset: 0 })).count).toBe(0)
      })
    )
  })
})

describe("orders that a crash left pending", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("are finished at the next start: what is there activated, what is gone refunded, each said", () =>
      Effect.gen(function* () {
        const orderId = Ids.order(`svc_order_${"a".repeat(32)}`)
        const started = Layer.fresh(Features.started)
        const id = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { id } = yield* Features.newTenant()
          const numbers = JSON.stringify(
            ["+12025550150", "+15005550001"].map((phone, n) => ({
              id: Id.derive("left pending", "did", n),
              phone_number: phone,
              status: "pending",
              failure_reason: null
            }))
          )
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`INSERT INTO number_order (id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
                monthly_cost_cents, created_at) VALUES (${orderId}, ${id}, 'pending', 'US', 'local', ${numbers}::text::jsonb, 150, 200, now())`
              yield* sql`INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features, order_id,
                upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
                VALUES (${Id.derive("left pending", "did", 0)}, ${id}, '+12025550150', 'US', 'local', 'pending', '{voice}', ${orderId}, 100, 100, now(), now()),
                  (${Id.derive("left pending", "did", 1)}, ${id}, '+15005550001', 'US', 'local', 'pending', '{voice}', ${orderId}, 50, 100, now(), now())`
            })
          )
          yield* (yield* Jobs).enqueue({ kind: "number_order.activation", key: orderId, tenantId: id })
          return id
        }).pipe(Effect.provide(started))
        const order = yield* finished(id, orderId).pipe(Effect.provide(Jobs.runner.pipe(Layer.provideMerge(started))))
        expect(order).toMatchObject({ status: "partial", refunded_cents: 50 })
        expect(order.phone_numbers.map((n) => [n.status, n.failure_reason])).toStrictEqual([
          ["active", null],
          ["failed", "not_available"]
        ])
        const events = yield* bodiesOf(orderId)
        expect(events.map((event) => event.event_type)).toStrictEqual(["number_order.completed", "number_order.failed"])
        expect(events[0]?.data).toMatchObject({ total_cents: 100 })
        expect(events[1]?.data).toMatchObject({ failure_reason: "not_available", refunded_cents: 50 })
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )
  })
})
