import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Funding } from "../../../src/money/funding/Funding.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import * as DoubledStripe from "../../ports/payment/DoubledStripe.ts"
import * as StripeDouble from "../../ports/payment/StripeDouble.ts"
import * as Features from "../../support/service/Features.ts"

interface Card {
  readonly id: string
  readonly status: string
  readonly is_default: boolean
}

const save = Effect.fnUntraced(function* ({ caller }: Features.NewTenant) {
  const request = { processorPaymentMethodId: "pm_card_visa", setDefault: true }
  const answer = yield* (yield* Funding).save(caller, request, null)
  return JSON.parse(answer.body ?? "") as Card
})

const topUp = Effect.fnUntraced(function* ({ caller }: Features.NewTenant, paymentMethodId: string | null = null) {
  const request = { amountCents: 1_000, paymentMethodId: paymentMethodId as never }
  const answer = yield* (yield* Funding).topUp(caller, request, null)
  return JSON.parse(answer.body ?? "") as { readonly id: string; readonly status: string }
})

const codeOf = (effect: ReturnType<typeof topUp>) => Effect.map(Effect.flip(effect), ({ code }) => code)

const cards = Effect.fnUntraced(function* ({ id }: Features.NewTenant) {
  const page = yield* (yield* Funding).methods(id, { limit: 20, offset: 0 })
  return (page.results as ReadonlyArray<Card>).map(({ is_default, status }) => [status, is_default])
})

const customerOf = Effect.fnUntraced(function* ({ id }: Features.NewTenant) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: string }>`
    SELECT customer_id AS id FROM payment_customer WHERE tenant_id = ${id} AND gone_at IS NULL`
  return row?.id ?? ""
})

/** The service was started with another key since the customer was seen last. */
const newKey = Effect.fnUntraced(function* ({ id }: Features.NewTenant) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payment_customer SET seen_with = 'another key' WHERE tenant_id = ${id}`
})

const attemptsOf = ({ id }: Features.NewTenant) =>
  Effect.flatMap(Funding, (funding) =>
    Effect.map(funding.attempts(id, 10), (attempts) => attempts.map(({ status }) => status))
  )

const recharge = { enabled: true, thresholdCents: 600, amountCents: 2_000, paymentMethodId: null }

describe("a customer that is gone at the processor (guide/money.md#cards)", () => {
  layer(Features.paidBy(DoubledStripe.layer).pipe(Layer.provideMerge(DoubledStripe.layer)), {
    excludeTestServices: true
  })((it) => {
    it.effect("because it was deleted there: a new one is made by the next setup, and by the next card", () =>
      Effect.gen(function* () {
        const funding = yield* Funding
        const double = yield* DoubledStripe.Double
        for (const isSetUp of [true, false]) {
          const tenant = yield* Features.newTenant()
          yield* save(tenant)
          yield* topUp(tenant)
          double.deleteCustomer(yield* customerOf(tenant))
          if (isSetUp) expect((yield* funding.setup(tenant.caller, null)).status).toBe(201)
          expect((yield* save(tenant)).status).toBe("active")
          expect(yield* cards(tenant)).toEqual([
            ["active", true],
            ["gone", false]
          ])
          expect((yield* topUp(tenant)).status).toBe("succeeded")
          // The payments of both customers are the tenant's.
          const { charged_cents, exceptions } = yield* funding.reconcile(tenant.id)
          expect([charged_cents, exceptions]).toEqual([2_000, []])
        }
      })
    )

    it.effect(
      "because it was deleted there: a top-up charges nothing and marks the cards, and the next card works",
      () =>
        Effect.gen(function* () {
          const double = yield* DoubledStripe.Double
          const tenant = yield* Features.newTenant()
          const { id } = yield* save(tenant)
          double.deleteCustomer(yield* customerOf(tenant))
          expect(yield* codeOf(topUp(tenant))).toBe("payment_failed")
          expect(yield* cards(tenant)).toEqual([["gone", false]])
          for (const method of [null, id]) expect(yield* codeOf(topUp(tenant, method))).toBe("payment_method_required")
          expect(yield* Effect.flip((yield* Funding).makeDefault(tenant.caller, id as never, null))).toMatchObject({
            code: "conflict"
          })
          yield* save(tenant)
          expect((yield* topUp(tenant)).status).toBe("succeeded")
          expect((yield* (yield* Funding).remove(tenant.caller, id as never, null)).status).toBe(204)
          expect(yield* cards(tenant)).toEqual([["active", true]])
          expect(yield* attemptsOf(tenant)).toEqual(["succeeded", "failed"])
        })
    )

    it.effect("because the keys are those of another account or mode: nothing is tried with its cards", () =>
      Effect.gen(function* () {
        const double = yield* DoubledStripe.Double
        const tenant = yield* Features.newTenant()
        yield* save(tenant)
        yield* newKey(tenant)
        double.otherAccount()
        expect(yield* codeOf(topUp(tenant))).toBe("payment_method_required")
        expect([yield* cards(tenant), yield* attemptsOf(tenant)]).toEqual([[["gone", false]], []])
        yield* save(tenant)
        expect((yield* topUp(tenant)).status).toBe("succeeded")
      })
    )

    it.effect("is back with its cards when the key of another account was set for a while only", () =>
      Effect.gen(function* () {
        const double = yield* DoubledStripe.Double
        const tenant = yield* Features.newTenant()
        yield* save(tenant)
        const customer = yield* customerOf(tenant)
        for (let time = 0; time < 2; time++) {
          yield* newKey(tenant)
          const rightAccount = double.otherAccount()
          expect(yield* codeOf(topUp(tenant))).toBe("payment_method_required")
          expect(yield* cards(tenant)).toEqual([["gone", false]])
          // It is asked for once under a key.
          expect(yield* codeOf(topUp(tenant))).toBe("payment_method_required")
          rightAccount()
          yield* newKey(tenant)
          expect((yield* topUp(tenant)).status).toBe("succeeded")
          expect([yield* customerOf(tenant), yield* cards(tenant)]).toEqual([customer, [["active", true]]])
        }
      })
    )

    it.effect("is not so because a key of the same account replaced another one, or the processor is away", () =>
      Effect.gen(function* () {
        const double = yield* DoubledStripe.Double
        const tenant = yield* Features.newTenant()
        yield* save(tenant)
        yield* newKey(tenant)
        for (const status of [401, 403, 404, 500]) {
          const error = { type: "invalid_request_error", message: "away" }
          double.answersInstead = () => StripeDouble.failed(status, error)
          expect([status, yield* codeOf(topUp(tenant))]).toEqual([status, "upstream_error"])
        }
        double.answersInstead = () => null
        expect((yield* topUp(tenant)).status).toBe("succeeded")
        const looks = () => double.asked.filter((asked) => asked.startsWith("GET /v1/customers/")).length
        const before = looks()
        expect((yield* topUp(tenant)).status).toBe("succeeded")
        expect([looks(), yield* cards(tenant)]).toEqual([before, [["active", true]]])
      })
    )

    it.effect("while a card is saved: the card is not kept, because its customer is gone", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const double = yield* DoubledStripe.Double
        const tenant = yield* Features.newTenant()
        yield* save(tenant)
        const attached = () => double.asked.filter((asked) => asked.endsWith("/attach")).length
        const before = attached()
        const isHeld = yield* Deferred.make<void>()
        const isAttached = yield* Deferred.make<void>()
        const loser = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT FROM payment_customer WHERE tenant_id = ${tenant.id} FOR UPDATE`
              yield* Deferred.succeed(isHeld, undefined)
              yield* Deferred.await(isAttached)
              yield* sql`UPDATE payment_customer SET gone_at = now() WHERE tenant_id = ${tenant.id}`
              yield* sql`UPDATE payment_method SET gone_at = now(), is_default = false WHERE tenant_id = ${tenant.id}`
            })
          )
        )
        yield* Deferred.await(isHeld)
        const saver = yield* Effect.forkChild(Effect.flip(save(tenant)))
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => attached() > before })
        yield* Deferred.succeed(isAttached, undefined)
        yield* Fiber.join(loser)
        expect(yield* Fiber.join(saver)).toMatchObject({ code: "conflict" })
        expect(yield* cards(tenant)).toEqual([["gone", false]])
        yield* save(tenant)
        expect((yield* topUp(tenant)).status).toBe("succeeded")
      })
    )

    it.effect("disables auto-recharge with a letter, whatever finds it out", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const funding = yield* Funding
        const double = yield* DoubledStripe.Double
        for (const found of ["a new key", "the recharge", "a new card"] as const) {
          const tenant = yield* Features.newTenant()
          yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${tenant.id}`
          yield* save(tenant)
          if (found === "a new key") yield* newKey(tenant)
          double.deleteCustomer(yield* customerOf(tenant))
          const low = found === "a new card" ? 100 : 600
          yield* funding.setAutoRecharge(tenant.caller, { ...recharge, thresholdCents: low }, null)
          if (found === "a new card") yield* save(tenant)
          yield* Effect.gen(function* () {
            yield* sql`UPDATE job SET due_at = now() WHERE kind LIKE 'funding.%' AND leased_by IS NULL`
            yield* (yield* Jobs).poll
            return yield* funding.autoRecharge(tenant.id)
          }).pipe(Effect.repeat({ until: ({ enabled }) => !enabled }))
          expect(yield* funding.autoRecharge(tenant.id)).toMatchObject({ enabled: false, disabled_reason: "card_gone" })
          // A look of the jobs sends four letters, and earlier tests have left some.
          yield* Effect.repeat(Features.lettersSent, {
            until: () =>
              sql<{ readonly waiting: boolean }>`
              SELECT EXISTS (SELECT FROM letter WHERE tenant_id = ${tenant.id} AND status = 'waiting') AS waiting`.pipe(
                Effect.map(([row]) => row?.waiting === false)
              )
          })
          const subjects = Features.mails.filter(({ to }) => to.address === tenant.email).map(({ subject }) => subject)
          expect([found, subjects.filter((subject) => subject === "Auto-recharge is disabled")]).toEqual([
            found,
            ["Auto-recharge is disabled"]
          ])
        }
      })
    )
  })
})
