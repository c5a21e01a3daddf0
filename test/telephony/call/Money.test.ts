import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Layer, References, Result } from "effect"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { decodeAction } from "../../../src/telephony/call/verb/CallVerbs.ts"
import { Carrier, type CarrierCommand, CarrierSink } from "../../../src/carrier/Carrier.ts"
import type { CallId, LegId, TenantId } from "../../../src/domain/Id.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Sample from "./CallSample.ts"

const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)
const operator = { type: "operator", name: "test" } as const
const dialled: Array<CarrierCommand> = []
const adapter = CarrierSample.adapter((command) => Effect.sync(() => void dialled.push(command)))

/** Twenty dollars a minute outbound; ten cents a minute inbound for the number that ends in 151. */
const dear = [
  { direction: "outbound", prefix: "", microUsdPerMinute: 20_000_000 },
  { direction: "inbound", prefix: "12025550151", microUsdPerMinute: 100_000 }
] as const

/** A tenant with this balance. */
const tenantWith = Effect.fnUntraced(function* (cents: number) {
  const { caller, id } = yield* Features.newTenant()
  const accounts = yield* Accounts
  yield* (yield* Billing).adjust(id, cents - 500, "test")
  yield* accounts.setQuota(id, { allowCallerIdForwarding: true }, operator)
  yield* accounts.moneyMoved(id)
  return { caller, id }
})

type Tenant = Effect.Success<ReturnType<typeof tenantWith>>

const placeTen = Effect.fnUntraced(function* ({ caller }: Tenant) {
  const calls = yield* Calls
  const request = Sample.request("+12025550199", { callerIdForwarding: true })
  const outcomes = yield* Effect.forEach(
    Array.from({ length: 10 }),
    () => Effect.result(calls.place(caller, request, null)),
    { concurrency: 10 }
  )
  return {
    placed: outcomes.flatMap((outcome) =>
      Result.isSuccess(outcome)
        ? [
            JSON.parse(outcome.success.body ?? "") as {
              readonly id: CallId
              readonly legs: ReadonlyArray<{ readonly id: LegId }>
            }
          ]
        : []
    ),
    refused: outcomes.flatMap((outcome) => (Result.isFailure(outcome) ? [outcome.failure.code] : []))
  }
})

const number = (caller: Tenant["caller"], phoneNumber: string) =>
  Effect.flatMap(Numbers, (numbers) =>
    numbers.order(
      caller,
      {
        phoneNumbers: [phoneNumber],
        countryCode: "US",
        numberType: "local",
        routeId: null,
        customerReference: null
      },
      null
    )
  )

const numbered = CarrierSample.numbered()

let legs = 0
/** A phone calls a number; returns the call and its leg. */
const rings = Effect.fnUntraced(function* (to: string) {
  const legId = Id.derive(`leg ${++legs}`, "leg")
  const admission = yield* (yield* CarrierSink).offer({
    legId,
    at: Number.MAX_SAFE_INTEGER,
    adapter: "simulator",
    incarnation: "test",
    source: null,
    from: "+12025550100",
    to,
    resume: null
  })
  expect.assert(admission.admitted)
  return { callId: admission.callId, legId }
})

const answer = (caller: Tenant["caller"], callId: CallId) =>
  Effect.flatMap(Calls, (calls) => calls.act(caller, callId, decodeAction("answer", {}), null))

/** The account's figures after all messages that it was sent. */
const usage = Effect.fnUntraced(function* (id: TenantId) {
  const accounts = yield* Accounts
  const { quota } = yield* accounts.overview(id)
  yield* accounts.setQuota(id, quota, operator)
  return (yield* accounts.overview(id)).tally
})

/** The phone of a placed call answers. */
const answers = Effect.fnUntraced(function* (callId: CallId, legId: LegId) {
  const event = numbered(legId, Number.MAX_SAFE_INTEGER, { type: "answered", resume: null })
  expect(yield* (yield* CarrierSink).tell(callId, event)).toBe("committed")
})

describe("The money of live calls, guide/money.md#reservations", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("ten calls at once spend neither what an account has not, nor more than its cap", () =>
      Effect.gen(function* () {
        yield* (yield* Carrier).register("simulator", adapter)
        const billing = yield* Billing
        const sink = yield* CarrierSink
        yield* billing.setRates(dear)
        const poor = yield* tenantWith(400)
        expect((yield* placeTen(poor)).refused).toStrictEqual(Array.from({ length: 10 }, () => "balance_insufficient"))

        const two = yield* tenantWith(4_500)
        const { placed, refused } = yield* placeTen(two)
        expect([placed.length, refused.length]).toStrictEqual([2, 8])
        expect((yield* usage(two.id)).reservedCents).toBe(4_000)

        // A daily cap of a hundred dollars limits the calls, whatever the balance.
        const capped = yield* tenantWith(1_000_000)
        const day = yield* placeTen(capped)
        expect(day.placed.length).toBe(5)
        expect(new Set(day.refused)).toStrictEqual(new Set(["daily_spend_cap_exceeded"]))

        // All calls talk and hang up; then nothing is owed.
        const event = CarrierSample.numbered()
        for (const { id, legs } of placed) {
          const at = yield* Clock.currentTimeMillis
          const [leg] = legs
          expect.assert(leg !== undefined)
          yield* sink.tell(id, event(leg.id, at, { type: "answered", resume: null }))
          yield* sink.tell(id, event(leg.id, at + 1, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }))
        }
        expect((yield* billing.balance(two.id)).balance_cents).toBe(500)
        const after = yield* usage(two.id)
        expect([after.balanceCents, after.reservedCents, after.liveCalls]).toStrictEqual([500, 0, 0])
        yield* billing.setRates([])
      })
    )

    it.effect("a tenant's own deck by the second charges seconds, and a call keeps the terms of its beginning", () =>
      Effect.gen(function* () {
        yield* (yield* Carrier).register("simulator", adapter)
        const billing = yield* Billing
        const sink = yield* CarrierSink
        yield* billing.setRates(dear)
        const [other, own] = [yield* tenantWith(2_500), yield* tenantWith(2_500)]
        const increments = { firstSecs: 1, stepSecs: 1, connectionFeeMicroUsd: 50_000, minimumMicroUsd: 0 }
        yield* billing.setRates([{ ...dear[0], increments }], null, own.id)
        const event = CarrierSample.numbered()
        const costOf = Effect.fnUntraced(function* (tenant: Tenant, change: Effect.Effect<unknown, unknown>) {
          const [call] = (yield* placeTen(tenant)).placed
          const leg = call?.legs[0]
          expect.assert(call !== undefined && leg !== undefined)
          const reserved = (yield* usage(tenant.id)).reservedCents
          yield* Effect.orDie(change)
          const at = yield* Clock.currentTimeMillis
          yield* sink.tell(call.id, event(leg.id, at, { type: "answered", resume: null }))
          yield* sink.tell(
            call.id,
            event(leg.id, at + 1, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
          )
          const { balance_cents: left } = yield* billing.balance(tenant.id)
          return [reserved, left]
        })
        expect(yield* costOf(other, Effect.void)).toStrictEqual([2_000, 500])
        // The fee and one second at 33.34 cents; the deck that comes meanwhile is for later calls.
        const free = [{ ...dear[0], microUsdPerMinute: 0 }]
        expect(yield* costOf(own, billing.setRates(free, null, own.id))).toStrictEqual([2_005, 2_461])
        expect(yield* costOf(own, Effect.void)).toStrictEqual([0, 2_461])
        yield* billing.setRates([])
      })
    )

    it.effect("a number order cannot spend what a live call reserves", () =>
      Effect.gen(function* () {
        yield* (yield* Carrier).register("simulator", adapter)
        const billing = yield* Billing
        const numbers = yield* Numbers
        const tenant = yield* tenantWith(2_050)
        yield* billing.setRates(dear)
        expect((yield* placeTen(tenant)).placed.length).toBe(1)
        expect((yield* Effect.flip(number(tenant.caller, "+12025550160"))).code).toBe("insufficient_balance")
        expect(yield* numbers.callingFrom(tenant.id, "+12025550160")).toBeNull()
        yield* (yield* Calls).endAll(tenant.id, "hung_up")
        yield* number(tenant.caller, "+12025550160")
        const { balanceCents, reservedCents } = yield* usage(tenant.id)
        expect([balanceCents, reservedCents]).toStrictEqual([1_950, 0])
        yield* billing.setRates([])
      })
    )

    it.effect("work is paid for when it begins, and what the call refuses, pauses or stops asks for no money", () =>
      Effect.gen(function* () {
        yield* (yield* Carrier).register("simulator", adapter)
        const billing = yield* Billing
        const calls = yield* Calls
        const { caller, id } = yield* tenantWith(2_500)
        yield* billing.setRates(dear)
        yield* billing.setPrice("recording", 2_000_000)
        const [call] = (yield* placeTen({ caller, id })).placed
        const leg = call?.legs[0]
        expect.assert(call !== undefined && leg !== undefined)
        yield* billing.setPrice("recording", 0)
        const ask = (
          verb: "start_recording" | "pause_recording" | "resume_recording" | "stop_recording",
          body: object
        ) => calls.act(caller, call.id, decodeAction(verb, body), null)
        expect((yield* Effect.flip(ask("start_recording", {}))).code).toBe("call_not_in_required_state")
        expect(yield* usage(id)).toMatchObject({ reservedCents: 2_000 })

        yield* answers(call.id, leg.id)
        yield* ask("start_recording", {})
        expect(yield* usage(id)).toMatchObject({ reservedCents: 2_200 })
        expect((yield* Effect.flip(ask("start_recording", {}))).code).toBe("conflict")
        expect(yield* usage(id)).toMatchObject({ reservedCents: 2_200 })

        // The reason of the refusal is given even when there is no money to pay for it.
        yield* billing.adjust(id, -300, "test")
        yield* (yield* Accounts).moneyMoved(id)
        expect((yield* Effect.flip(ask("start_recording", {}))).code).toBe("conflict")
        // Without money a tenant can still end paid work.
        yield* ask("pause_recording", {})
        yield* ask("resume_recording", {})
        yield* ask("stop_recording", {})
        expect((yield* Effect.flip(ask("stop_recording", {}))).code).toBe("recording_already_stopped")
        yield* calls.endAll(id, "hung_up")
        expect(yield* usage(id)).toMatchObject({ reservedCents: 0, liveCalls: 0 })
        yield* billing.setRates([])
      })
    )

    it.effect("whoever rings a tenant's number spends none of its money and fills no limit; its own answer does", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const accounts = yield* Accounts
        const tenant = yield* tenantWith(300)
        yield* number(tenant.caller, "+12025550151")
        yield* number(tenant.caller, "+12025550152")
        yield* accounts.setQuota(tenant.id, { concurrentCallLimit: 1 }, operator)
        yield* billing.setRates(dear)
        const ringing = yield* Effect.forEach(Array.from({ length: 5 }), () => rings("+12025550151"))
        expect(yield* usage(tenant.id)).toMatchObject({ balanceCents: 100, reservedCents: 0, liveCalls: 0 })

        const [first, second, third] = ringing
        expect.assert(first !== undefined && second !== undefined && third !== undefined)
        yield* answer(tenant.caller, first.callId)
        expect(yield* usage(tenant.id)).toMatchObject({ reservedCents: 10, liveCalls: 1 })
        // A repeated answer reserves only once.
        expect((yield* Effect.flip(answer(tenant.caller, first.callId))).code).toBe("call_not_in_required_state")
        expect(yield* usage(tenant.id)).toMatchObject({ reservedCents: 10, liveCalls: 1 })

        // Without money the call keeps ringing, and its request may be repeated after a top-up.
        yield* billing.adjust(tenant.id, -90, "test")
        yield* accounts.moneyMoved(tenant.id)
        expect((yield* Effect.flip(answer(tenant.caller, second.callId))).code).toBe("balance_insufficient")
        expect((yield* (yield* Calls).find(tenant.id, second.callId)).status).toBe("initiated")
        // A free call needs no money.
        yield* answer(tenant.caller, (yield* rings("+12025550152")).callId)
        yield* billing.adjust(tenant.id, 10, "test")
        yield* accounts.moneyMoved(tenant.id)
        yield* answer(tenant.caller, second.callId)
        expect(yield* usage(tenant.id)).toMatchObject({ reservedCents: 20, liveCalls: 3 })

        // An account that is read again finds the same in the rows of the calls.
        yield* accounts.moneyMoved(tenant.id)
        expect(yield* usage(tenant.id)).toMatchObject({ reservedCents: 20, liveCalls: 3 })
        yield* (yield* Calls).endAll(tenant.id, "hung_up")
        expect(yield* usage(tenant.id)).toMatchObject({ balanceCents: 20, reservedCents: 0, liveCalls: 0 })
        yield* billing.setRates([])
      })
    )
  })
})
