import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../../src/money/billing/Billing.ts"
import * as Money from "../../../src/domain/Money.ts"
import * as RateDecks from "../../../src/money/billing/RateDecks.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

/** A tenant without a deck and a discount of its own. */
const anyone = Ids.tenant("anyone")

describe("billing (guide/money.md#the-ledger)", () => {
  layer(Features.layer, { excludeTestServices: true })((it) => {
    it.effect("adds adjustments up in the ledger, newest first, also at once", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const { id } = yield* Features.newTenant()
        yield* Effect.forEach([100, -30, 7, 250, -77], (cents) => billing.adjust(id, cents, "test"), {
          concurrency: "unbounded"
        })
        expect((yield* billing.balance(id)).balance_cents).toBe(750)
        const { count, results } = yield* billing.ledger(id, { type: "adjustment" }, { limit: 2, offset: 0 })
        expect(count).toBe(6)
        expect(results.length).toBe(2)
        expect(results[0]?.balance_after_cents).toBe(750)
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("refuses to move nothing, parts of cents, or money of nobody", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const { id } = yield* Features.newTenant()
        for (const cents of [0, 1.5, Number.NaN])
          expect((yield* Effect.flip(billing.adjust(id, cents, ""))).code).toBe("invalid_request")
        const nobody = Ids.tenant("00000000-0000-4000-8000-000000000000")
        expect((yield* Effect.flip(billing.adjust(nobody, 1, ""))).code).toBe("not_found")
      })
    )

    it.effect("moves, and lends, no more than sums are exact for", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* Features.newTenant()
        const refused = (cents: number) =>
          Effect.map(Effect.flip(billing.adjust(id, cents, "")), ({ message }) => message)
        for (const cents of [1_000_000_001, -1_000_000_001, Number.MAX_SAFE_INTEGER])
          expect(yield* refused(cents)).toContain("at most 1000000000 either way")
        yield* billing.adjust(id, 1_000_000_000, "the most")
        yield* billing.adjust(id, -1_000_000_000, "the most")
        for (const sign of [1, -1]) {
          yield* sql`UPDATE balance SET balance_cents = ${sign * 100_000_000_000} WHERE tenant_id = ${id}`
          expect(yield* refused(sign)).toContain("100000000000 cents from zero")
          expect((yield* billing.adjust(id, -sign, "back")).balanceCents).toBe(sign * 99_999_999_999)
        }
        const { balance_cents } = yield* billing.balance(id)
        expect(Number.isSafeInteger(Money.microFromCents(balance_cents - 100_000_000_000))).toBe(true)
        yield* billing.setCreditLimit(id, 100_000_000_000)
        expect((yield* Effect.flip(billing.setCreditLimit(id, 100_000_000_001))).code).toBe("invalid_request")
        yield* sql`DELETE FROM ledger WHERE tenant_id = ${id}`
        yield* sql`UPDATE balance SET balance_cents = 0 WHERE tenant_id = ${id}`
      })
    )

    it.effect("replaces the rate deck as a whole, or not at all", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const rate = { direction: "outbound", prefix: "1", microUsdPerMinute: 4_000 } as const
        yield* billing.setRates([rate])
        expect(yield* billing.rate(anyone, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 4_000 })
        expect((yield* Effect.flip(billing.setRates([rate, rate]))).code).toBe("invalid_request")
        yield* billing.setRates([{ ...rate, prefix: "49" }])
        expect((yield* Effect.flip(billing.rate(anyone, "outbound", "+12025550100"))).code).toBe("country_not_allowed")
        expect(yield* billing.rates(null)).toStrictEqual([{ ...rate, prefix: "49" }])
      })
    )

    it.effect("a deck takes over at its moment by itself, also where it was imported before this start", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const rate = { direction: "outbound", prefix: "", microUsdPerMinute: 1 } as const
        yield* billing.setRates([rate])
        const hour = 3_600_000
        const at = (yield* Clock.currentTimeMillis) + hour
        const clock = yield* Clock.Clock
        const later: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + 2 * hour)
        })
        yield* billing.setRates([{ ...rate, microUsdPerMinute: 2 }], at)
        const again = yield* RateDecks.make
        for (const decks of [billing, again])
          expect(yield* decks.rate(anyone, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 1 })
        for (const decks of [billing, again]) {
          const rated = decks.rate(anyone, "outbound", "+12025550100")
          expect(yield* Effect.provideService(rated, Clock.Clock, later)).toEqual({ microUsdPerMinute: 2 })
        }
        yield* billing.setRates([])
        expect(yield* billing.rate(anyone, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 10_000 })
      })
    )

    it.effect(
      "a tenant has a deck of its own, beside that of all, from its moment on and until it is empty again",
      () =>
        Effect.gen(function* () {
          const billing = yield* Billing
          const { id } = yield* Features.newTenant()
          const rate = { direction: "outbound", prefix: "1", microUsdPerMinute: 4_000 } as const
          const increments = { firstSecs: 1, stepSecs: 1, connectionFeeMicroUsd: 0, minimumMicroUsd: 0 }
          const own = { ...rate, prefix: "1202", microUsdPerMinute: 3_000, increments }
          yield* billing.setRates([rate])
          yield* billing.setRates([own], null, id)
          const again = yield* RateDecks.make
          for (const decks of [billing, again]) {
            expect(yield* decks.rate(id, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 3_000, increments })
            // Its own deck has no such row, and no other tenant has its deck.
            expect(yield* decks.rate(id, "outbound", "+13105550100")).toEqual({ microUsdPerMinute: 4_000 })
            expect(yield* decks.rate(anyone, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 4_000 })
          }
          expect(yield* billing.rates(id)).toStrictEqual([own])
          expect(yield* billing.rates(null)).toStrictEqual([rate])
          expect((yield* billing.decks(id)).length).toBe(1)
          expect(yield* billing.rateDifference([rate], null, id)).toHaveLength(2)

          // Another deck for all leaves its own, and a scheduled one of its own leaves both until its moment.
          yield* billing.setRates([{ ...rate, microUsdPerMinute: 5_000 }])
          yield* billing.setRates([{ ...own, microUsdPerMinute: 9 }], (yield* Clock.currentTimeMillis) + 3_600_000, id)
          expect((yield* billing.rate(id, "outbound", "+12025550100")).microUsdPerMinute).toBe(3_000)
          const sql = yield* SqlClient.SqlClient
          const lines = yield* sql<{ readonly action: string }>`SELECT action FROM audit WHERE tenant_id = ${id}
          AND resource_type = 'rate_deck' ORDER BY ordinal`
          expect(lines.map(({ action }) => action)).toEqual(["rates.replaced", "rates.scheduled"])
          yield* billing.setRates([], null, id)
          expect((yield* billing.rate(id, "outbound", "+12025550100")).microUsdPerMinute).toBe(5_000)
          yield* billing.setRates([])
        })
    )

    it.effect("a discount lowers the prices of the deck for all, rounded up, and not those of its own deck", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const { id } = yield* Features.newTenant()
        const increments = { firstSecs: 30, stepSecs: 6, connectionFeeMicroUsd: 101, minimumMicroUsd: 0 }
        yield* billing.setRates([{ direction: "outbound", prefix: "", microUsdPerMinute: 4_001, increments }])
        yield* billing.setDiscount(id, 1_250)
        const again = yield* RateDecks.make
        for (const decks of [billing, again]) {
          expect(yield* decks.rate(id, "outbound", "+12025550100")).toEqual({
            microUsdPerMinute: 3_501,
            increments: { ...increments, connectionFeeMicroUsd: 89 }
          })
          expect((yield* decks.rate(anyone, "outbound", "+12025550100")).microUsdPerMinute).toBe(4_001)
        }
        yield* billing.setRates([{ direction: "outbound", prefix: "1", microUsdPerMinute: 700 }], null, id)
        expect(yield* billing.rate(id, "outbound", "+12025550100")).toEqual({ microUsdPerMinute: 700 })
        expect((yield* billing.rate(id, "outbound", "+4930123456")).microUsdPerMinute).toBe(3_501)
        expect(yield* billing.discounts).toEqual([{ tenantId: id, hundredths: 1_250 }])
        for (const wrong of [-1, 0.5, 10_001])
          expect((yield* Effect.flip(billing.setDiscount(id, wrong))).code).toBe("invalid_request")
        yield* billing.setDiscount(id, 0)
        expect((yield* billing.rate(id, "outbound", "+4930123456")).microUsdPerMinute).toBe(4_001)
        expect(yield* billing.discounts).toEqual([])
        yield* billing.setRates([])
      })
    )

    it.effect("keeps a credit limit that is whole and not negative", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const { id } = yield* Features.newTenant()
        yield* billing.setCreditLimit(id, 2_000)
        expect((yield* billing.balance(id)).credit_limit_cents).toBe(2_000)
        expect((yield* Effect.flip(billing.setCreditLimit(id, -1))).code).toBe("invalid_request")
      })
    )
  })
})
