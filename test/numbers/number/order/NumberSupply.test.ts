import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type * as Id from "../../../../src/domain/Id.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import { Numbers } from "../../../../src/numbers/number/Number.ts"
import { type Outcome, SupplyError } from "../../../../src/numbers/number/order/NumberSupply.ts"
import type { NumberOrderView } from "../../../../src/numbers/number/NumberView.ts"
import * as Features from "../../../support/service/Features.ts"
import * as SeenEvent from "../../../support/SeenEvent.ts"

/** The decisions of these tests' supplier by number; absent while it has not decided. */
const says = new Map<string, Outcome>()
let isAway = false
const asked: Array<string> = []

const supply = Features.supplied({
  activate: ({ id, phoneNumbers }) => {
    asked.push(id)
    return isAway
      ? Effect.fail(new SupplyError({ detail: "away" }))
      : Effect.sync(
          () =>
            new Map(phoneNumbers.flatMap((phone) => (says.has(phone) ? [[phone, says.get(phone) ?? "active"]] : [])))
        )
  }
})

const phones = (from: number, count: number) => Array.from({ length: count }, (_, n) => `+12025550${from + n}`)

const placed = Effect.fnUntraced(function* (phoneNumbers: ReadonlyArray<string>) {
  const numbers = yield* Numbers
  const { caller, id } = yield* Features.newTenant()
  const order = {
    phoneNumbers,
    countryCode: "US",
    numberType: "local" as const,
    routeId: null,
    customerReference: null
  }
  const { body } = yield* numbers.order(caller, order, null)
  const { id: orderId } = JSON.parse(body ?? "") as NumberOrderView
  return { id, orderId, find: numbers.findOrder(id, orderId) }
})

/** Makes the next attempt at once. */
const again = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE job SET due_at = now() WHERE kind = 'number_order.activation'`
  yield* (yield* Jobs).poll
})

const eventsOf = Effect.fnUntraced(function* (orderId: Id.OrderId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly body: string
  }>`SELECT body FROM event WHERE entity_id = ${orderId} ORDER BY sequence`
  return rows.map(({ body }) => {
    SeenEvent.checkBody(body)
    const { data, event_type } = JSON.parse(body) as { readonly data: NumberOrderView; readonly event_type: string }
    const reason = (data as unknown as { readonly failure_reason?: string }).failure_reason ?? null
    return [
      event_type,
      data.status,
      reason,
      data.phone_numbers.map(({ phone_number: phone }) => phone.slice(-3)).join()
    ]
  })
})

describe("an order whose numbers another one gives (guide/numbers.md#ordering)", () => {
  layer(supply, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect("is filled in part: each event names its own numbers, and what failed is refunded once", () =>
      Effect.gen(function* () {
        const [one = "", two = "", three = "", four = ""] = phones(150, 4)
        says.set(one, "active").set(two, "carrier_rejected").set(three, "not_available").set(four, "carrier_rejected")
        const { find, id, orderId } = yield* placed([one, two, three, four])
        const order = yield* find
        expect(order).toMatchObject({ status: "partial", refunded_cents: 300 })
        expect(order.phone_numbers.map(({ failure_reason, status }) => `${status} ${failure_reason}`)).toEqual([
          "active null",
          "failed carrier_rejected",
          "failed not_available",
          "failed carrier_rejected"
        ])
        expect(yield* eventsOf(orderId)).toEqual([
          ["number_order.completed", "partial", null, "150"],
          ["number_order.failed", "partial", "not_available", "152"],
          ["number_order.failed", "partial", "carrier_rejected", "151,153"]
        ])
        yield* again
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(400)
        expect(yield* Features.ledgerAddsUp).toBe(true)
        // A failed number may be ordered again at once.
        says.set(two, "active")
        expect((yield* (yield* placed([two])).find).status).toBe("completed")
      })
    )

    it.effect("waits while it is not decided, and while nobody can be asked", () =>
      Effect.gen(function* () {
        const [one = "", two = ""] = phones(160, 2)
        says.set(one, "active")
        const { find, orderId } = yield* placed([one, two])
        expect((yield* find).status).toBe("pending")
        expect(yield* (yield* Numbers).byDialled(one)).toMatchObject({ status: "pending" })
        isAway = true
        says.set(two, "requirements_missing")
        yield* again
        expect((yield* find).status).toBe("pending")
        isAway = false
        yield* again
        expect(yield* eventsOf(orderId)).toEqual([
          ["number_order.completed", "partial", null, "160"],
          ["number_order.failed", "partial", "requirements_missing", "161"]
        ])
        expect(new Set(asked.filter((id) => id === orderId)).size).toBe(1)
      })
    )

    it.effect("has failed where nobody decided for six hours, and is refunded", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [one = "", two = ""] = phones(170, 2)
        const { find, id, orderId } = yield* placed([one, two])
        yield* sql`UPDATE number_order SET created_at = created_at - interval '6 hours' WHERE id = ${orderId}`
        isAway = true
        yield* again
        isAway = false
        expect(yield* find).toMatchObject({ status: "failed", refunded_cents: 200 })
        expect(yield* eventsOf(orderId)).toEqual([["number_order.failed", "failed", "timeout", "170,171"]])
        expect((yield* (yield* Billing).balance(id)).balance_cents).toBe(500)
      })
    )
  })
})
