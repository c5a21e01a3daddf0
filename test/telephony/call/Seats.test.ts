import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Layer, References } from "effect"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Calls, type Dialled } from "../../../src/telephony/call/Call.ts"
import type { ToCall, ToConference } from "../../../src/telephony/call/machine/room/RoomTell.ts"
import { decodeAction } from "../../../src/telephony/call/verb/CallVerbs.ts"
import { Carrier, type CarrierCommand, CarrierSink } from "../../../src/carrier/Carrier.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import * as Id from "../../../src/domain/Id.ts"
import type { CallId, LegId, TenantId } from "../../../src/domain/Id.ts"
import * as CarrierSample from "../../support/fake/CarrierSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as Sample from "./CallSample.ts"

/** Messages between conferences and calls: through `Calls`, over rows, with a carrier that only records commands. */
const world = Calls.layer({ maxCallSecs: 3600 }).pipe(
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)
const operator = { type: "operator", name: "test" } as const
const sent: Array<CarrierCommand> = []
const heard: Array<ToConference> = []
const listen = Effect.flatMap(Calls, (calls) => calls.onRoomAnswer((told) => Effect.sync(() => void heard.push(told))))
const register = Effect.gen(function* () {
  yield* (yield* Carrier).register(
    "simulator",
    CarrierSample.adapter((command) => Effect.sync(() => void sent.push(command)))
  )
  yield* listen
})

const conferenceId = Id.derive("room", "conf")
let members = 0
const fresh = () => Id.derive(`seat ${++members}`, "member")
const enter = (memberId: Id.MemberId): ToCall => ({
  type: "enter",
  conferenceId,
  memberId,
  adapter: "simulator",
  isHost: false,
  isMuted: false,
  isHeld: false
})
const over = (memberId: Id.MemberId): ToCall => ({ type: "over", conferenceId, memberId, by: "api" })

/** All messages of calls about a member, once there are `count`. */
const said = Effect.fnUntraced(function* (memberId: Id.MemberId, count: number) {
  const all = () => heard.filter((told) => told.memberId === memberId)
  for (let waited = 0; all().length < count && waited < 500; waited++) yield* Effect.sleep("10 millis")
  return all().map((told) => (told.type === "refused" ? `refused ${told.reason}` : told.type))
})

const tenantWith = Effect.fnUntraced(function* (cents: number) {
  const { caller, id } = yield* Features.newTenant()
  const accounts = yield* Accounts
  yield* (yield* Billing).adjust(id, cents - 500, "test")
  yield* accounts.setQuota(id, { allowCallerIdForwarding: true }, operator)
  yield* accounts.moneyMoved(id)
  return { caller, id }
})
type Tenant = Effect.Success<ReturnType<typeof tenantWith>>

/** The account's figures after all messages that it was sent. */
const tally = Effect.fnUntraced(function* (id: TenantId) {
  const accounts = yield* Accounts
  const { quota } = yield* accounts.overview(id)
  yield* accounts.setQuota(id, quota, operator)
  return (yield* accounts.overview(id)).tally
})

const numbered = CarrierSample.numbered()
const tell = Effect.fnUntraced(function* (callId: CallId, legId: LegId, report: Parameters<typeof numbered>[2]) {
  yield* (yield* CarrierSink).tell(callId, numbered(legId, Number.MAX_SAFE_INTEGER, report))
})

const request = Sample.request("+12025550199", { callerIdForwarding: true })

/** An answered call. */
const talking = Effect.fnUntraced(function* ({ caller }: Tenant) {
  const { body } = yield* (yield* Calls).place(caller, request, null)
  const { id, legs } = JSON.parse(body ?? "") as {
    readonly id: CallId
    readonly legs: readonly [{ readonly id: LegId }]
  }
  yield* tell(id, legs[0].id, { type: "answered", resume: null })
  return { callId: id, legId: legs[0].id }
})

const membership = (
  memberId: Id.MemberId,
  claim: (dialled: Dialled) => Effect.Effect<void, ApiError> = () => Effect.void
) => ({
  conferenceId,
  memberId,
  adapter: "simulator",
  near: Id.derive("room", "leg"),
  claim,
  enters: () => ({ isMuted: false, isHeld: false }),
  render: ({ callId, legId }: Dialled) => JSON.stringify({ callId, legId })
})

describe("A conference and calls", () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("a call that is told to come in answers, once, and each time that it is told again", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const tenant = yield* tenantWith(1_000)
        const { callId, legId } = yield* talking(tenant)
        const memberId = fresh()
        yield* calls.tellRoom(callId, enter(memberId))
        expect(yield* said(memberId, 1)).toEqual(["entered"])
        expect(heard.at(-1)).toMatchObject({ callId, legId, conferenceId })
        expect(sent.at(-1)).toMatchObject({ type: "join_room", callId, legId, memberId })
        yield* calls.tellRoom(callId, enter(memberId))
        expect(yield* said(memberId, 2)).toEqual(["entered", "entered"])
        yield* tell(callId, legId, { type: "room_joined", conferenceId, memberId })
        const call = yield* calls.find(tenant.id, callId)
        expect([call.status, call.legs[0]?.conference_id]).toEqual(["bridged", conferenceId])
        yield* calls.tellRoom(callId, over(memberId))
        expect((yield* said(memberId, 3)).at(-1)).toBe("left")
        const ended = yield* calls.find(tenant.id, callId)
        expect([ended.status, ended.end_reason, ended.legs[0]?.conference_id]).toEqual([
          "ended",
          "conference_ended",
          null
        ])
        yield* calls.tellRoom(callId, over(memberId))
        expect((yield* said(memberId, 4)).at(-1)).toBe("left")
      })
    )

    it.effect("of ten seats that wait for one call at once it takes one", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const { callId } = yield* talking(yield* tenantWith(1_000))
        const memberships = Array.from({ length: 10 }, fresh)
        yield* Effect.forEach(memberships, (memberId) => calls.tellRoom(callId, enter(memberId)), {
          concurrency: "unbounded",
          discard: true
        })
        const answers = yield* Effect.forEach(memberships, (memberId) => said(memberId, 1))
        expect(answers.filter(([answer]) => answer === "entered").length).toBe(1)
        expect(answers.filter(([answer]) => answer === "refused in_another_room").length).toBe(9)
        expect(sent.filter((command) => command.type === "join_room" && command.callId === callId).length).toBe(1)
      })
    )

    it.effect("a call that is not there, or has ended, is answered for", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const tenant = yield* tenantWith(1_000)
        const { callId, legId } = yield* talking(tenant)
        const stayed = fresh()
        yield* calls.tellRoom(callId, enter(stayed))
        yield* said(stayed, 1)
        yield* tell(callId, legId, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
        expect(yield* said(stayed, 2)).toEqual(["entered", "left"])
        for (const gone of [callId, Id.derive("nobody", "call")]) {
          const [first, late] = [fresh(), fresh()]
          yield* calls.tellRoom(gone, enter(first))
          yield* calls.tellRoom(gone, over(late))
          expect([yield* said(first, 1), yield* said(late, 1)]).toEqual([["refused gone"], ["left"]])
        }
        // The call had that membership before.
        yield* calls.tellRoom(callId, enter(stayed))
        expect(yield* said(stayed, 3)).toEqual(["entered", "left", "left"])
      })
    )

    it.effect("a listener that dies costs its tell, and no call", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const tenant = yield* tenantWith(1_000)
        const { callId } = yield* talking(tenant)
        const memberId = fresh()
        yield* calls.onRoomAnswer(() => Effect.die(new Error("planted")))
        yield* calls.tellRoom(callId, enter(memberId))
        yield* Effect.sleep("100 millis")
        yield* listen
        expect((yield* calls.find(tenant.id, callId)).status).toBe("answered")
        yield* calls.tellRoom(callId, enter(memberId))
        expect(yield* said(memberId, 1)).toEqual(["entered"])
      })
    )

    it.effect("minutes in the room are reserved before the leg comes in, and given back behind it", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const billing = yield* Billing
        yield* billing.setPrice("conference", 1_000_000)
        const tenant = yield* tenantWith(150)
        const { callId, legId } = yield* talking(tenant)
        yield* billing.setPrice("conference", 0)
        const { reservedCents } = yield* tally(tenant.id)
        const [first, second] = [fresh(), fresh()]
        expect((yield* calls.candidate(tenant.id, callId)).legId).toBe(legId)
        yield* calls.tellRoom(callId, enter(first))
        yield* said(first, 1)
        expect((yield* tally(tenant.id)).reservedCents).toBe(reservedCents + 100)
        expect((yield* Effect.flip(calls.candidate(tenant.id, callId))).code).toBe("conflict")
        yield* tell(callId, legId, { type: "room_joined", conferenceId, memberId: first })
        yield* tell(callId, legId, { type: "room_left", conferenceId, memberId: first })
        // The minute is reserved, and the balance covers no other.
        expect((yield* tally(tenant.id)).reservedCents).toBe(reservedCents + 100)
        expect((yield* Effect.flip(calls.candidate(tenant.id, callId))).code).toBe("balance_insufficient")
        yield* calls.tellRoom(callId, enter(second))
        expect(yield* said(second, 1)).toEqual(["refused balance_insufficient"])
        expect((yield* calls.find(tenant.id, callId)).status).toBe("answered")
        yield* tell(callId, legId, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
        const { results } = yield* billing.ledger(tenant.id, {}, { offset: 0, limit: 10 })
        expect(results.filter(({ type }) => type === "conference_charge").map((entry) => entry.amount_cents)).toEqual([
          -100
        ])
        expect((yield* tally(tenant.id)).reservedCents).toBe(0)
      })
    )

    it.effect(
      "a stay is refused before the seat as the account would refuse it behind it, and reserves nothing then",
      () =>
        Effect.gen(function* () {
          yield* register
          const calls = yield* Calls
          const accounts = yield* Accounts
          const billing = yield* Billing
          yield* billing.setPrice("conference", 1_000_000)
          const tenant = yield* tenantWith(1_000)
          const { callId } = yield* talking(tenant)
          yield* billing.setPrice("conference", 0)
          const { reservedCents } = yield* tally(tenant.id)
          const capped = (quota: {
            readonly dailySpendCapCents?: number | null
            readonly monthlySpendCapCents?: number
          }) => accounts.setQuota(tenant.id, quota, operator)
          const placed = Effect.flip(calls.place(tenant.caller, request, null))
          const refused = Effect.flip(calls.candidate(tenant.id, callId))
          yield* capped({ dailySpendCapCents: 1 })
          expect((yield* refused).code).toBe("daily_spend_cap_exceeded")
          expect(yield* refused).toEqual(yield* placed)
          yield* capped({ dailySpendCapCents: null, monthlySpendCapCents: 1 })
          expect((yield* refused).code).toBe("monthly_spend_cap_exceeded")
          expect(yield* refused).toEqual(yield* placed)
          yield* billing.adjust(tenant.id, -1_000, "test")
          yield* accounts.moneyMoved(tenant.id)
          expect((yield* refused).code).toBe("balance_insufficient")
          expect(yield* refused).toEqual(yield* placed)
          expect((yield* tally(tenant.id)).reservedCents).toBe(reservedCents)
        })
    )

    it.effect("only a call of the tenant that talks and is in no room is a candidate", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const tenant = yield* tenantWith(1_000)
        const { callId, legId } = yield* talking(tenant)
        const code = (tenantId: TenantId, id: CallId) =>
          Effect.map(Effect.flip(calls.candidate(tenantId, id)), (refused) => refused.code)
        expect(yield* code((yield* tenantWith(1_000)).id, callId)).toBe("not_found")
        expect(yield* code(tenant.id, Id.derive("nobody", "call"))).toBe("not_found")
        const { body } = yield* calls.place(tenant.caller, request, null)
        expect(yield* code(tenant.id, (JSON.parse(body ?? "") as { id: CallId }).id)).toBe("call_not_in_required_state")
        yield* calls.act(tenant.caller, callId, decodeAction("refer", { sip_address: "sip:a@example.com" }), null)
        expect(yield* code(tenant.id, callId)).toBe("conflict")
        yield* tell(callId, legId, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
        expect(yield* code(tenant.id, callId)).toBe("call_already_ended")
      })
    )

    it.effect(
      "a call is dialled for a seat once that is claimed, near the room, and comes in when it is answered",
      () =>
        Effect.gen(function* () {
          yield* register
          const calls = yield* Calls
          const tenant = yield* tenantWith(1_000)
          const memberId = fresh()
          const dials = () => sent.filter((command) => command.type === "dial" && command.tenantId === tenant.id)
          let claimed: Dialled | null = null
          const { body, status } = yield* calls.dialIn(
            tenant.caller,
            request,
            null,
            membership(memberId, (dialled) =>
              Effect.sync(() => {
                expect(dials()).toEqual([])
                claimed = dialled
              })
            )
          )
          const { callId, legId } = JSON.parse(body ?? "") as { readonly callId: CallId; readonly legId: LegId }
          expect([status, claimed]).toMatchObject([201, { callId, legId }])
          expect(dials()).toMatchObject([{ callId, legId, near: Id.derive("room", "leg") }])
          yield* calls.tellRoom(callId, enter(memberId))
          yield* tell(callId, legId, { type: "answered", resume: null })
          expect(yield* said(memberId, 1)).toEqual(["entered"])
          expect(sent.at(-1)).toMatchObject({ type: "join_room", callId, legId, memberId })
        })
    )

    it.effect("a call that may not be dialled claims no seat, and a seat that is not to be had dials no call", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const billing = yield* Billing
        let claims = 0
        const dial = (tenant: Tenant, fields: Partial<typeof request>, memberId: Id.MemberId, adapter = "simulator") =>
          Effect.flip(
            calls.dialIn(tenant.caller, { ...request, ...fields }, null, {
              ...membership(memberId, () =>
                Effect.suspend(() => {
                  claims++
                  return ApiError.of("conference_full", "full")
                })
              ),
              adapter
            })
          )
        const rich = yield* tenantWith(1_000)
        expect(yield* dial(rich, { callerIdForwarding: false }, fresh())).toMatchObject({
          code: "from_number_not_owned",
          status: 422
        })
        expect((yield* dial(rich, {}, fresh(), "another")).code).toBe("unprocessable")
        yield* billing.setPrice("conference", 1_000_000)
        expect((yield* dial(yield* tenantWith(50), {}, fresh())).code).toBe("balance_insufficient")
        expect(claims).toBe(0)
        expect((yield* dial(rich, {}, fresh())).code).toBe("conference_full")
        yield* billing.setPrice("conference", 0)
        expect(claims).toBe(1)
        const { liveCalls, reservedCents } = yield* tally(rich.id)
        const dialled = sent.filter((command) => command.type === "dial" && command.tenantId === rich.id)
        expect([liveCalls, reservedCents, dialled]).toEqual([0, 0, []])
      })
    )

    it.effect("a claim that dies gives everything back", () =>
      Effect.gen(function* () {
        yield* register
        const calls = yield* Calls
        const tenant = yield* tenantWith(1_000)
        const claim = () => Effect.die(new Error("planted"))
        const exit = yield* Effect.exit(calls.dialIn(tenant.caller, request, null, membership(fresh(), claim)))
        expect(Exit.isFailure(exit)).toBe(true)
        const { liveCalls, reservedCents } = yield* tally(tenant.id)
        expect([liveCalls, reservedCents]).toEqual([0, 0])
      })
    )
  })
})
