import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { Accounts, DialingPermissions } from "../../../src/money/account/Account.ts"
import * as Service from "../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Features from "../../support/service/Features.ts"

/**
 * Calls that are connected with others, through HTTP and with simulated phones, guide/calls.md#transfer and below: the
 * requests of a client, its reads, and the bodies of its webhooks.
 */
const phones = {
  echo: "+12025550100",
  busy: "+12025550101",
  neverAnswers: "+12025550102",
  hangsUp: "+12025550106",
  silent: "+12025550116",
  refusesReferral: "+12025550119",
  silentReferral: "+12025550120"
}

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("connect"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

layer(running, { timeout: "60 seconds", excludeTestServices: true })("Through HTTP, with simulated phones", (it) => {
  describe.concurrent("transfer", () => {
    it.effect("connects another phone: both legs are bridged, told once, and the end of one ends the call", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.echo)
        expect((yield* a.act(id, "transfer", { to: phones.hangsUp })).status).toBe(200)
        // The bridge is reported for each leg separately.
        const call = yield* a.until(id, ({ legs }) => legs.every(({ status }) => status === "bridged"))
        expect(call.legs).toMatchObject([
          { role: "primary", status: "bridged", bridged_leg_id: call.legs[1]?.id, to: phones.echo },
          { role: "transfer", status: "bridged", bridged_leg_id: call.legs[0]?.id, to: phones.hangsUp, from: a.number }
        ])
        // This phone hangs up five seconds after its answer.
        const over = yield* a.until(id, ({ status }) => status === "ended")
        expect([over.end_reason, over.end_initiator]).toEqual(["normal_clearing", "caller"])
        expect(over.legs.map(({ bridged_leg_id, status }) => [status, bridged_leg_id])).toEqual([
          ["ended", null],
          ["ended", null]
        ])
        // One started minute of each leg.
        expect(over.cost_cents).toBe(2)
        yield* a.event(id, "call.ended")
        const events = yield* a.events(id)
        expect(events.map(({ type }) => type)).toEqual([
          "call.started",
          "call.ringing",
          "call.answered",
          "call.bridged",
          "call.ended"
        ])
        expect(events[3]?.data).toMatchObject({
          call_id: id,
          leg_id: call.legs[0]?.id,
          bridged_call_id: null,
          bridged_leg_id: call.legs[1]?.id
        })
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    const failures = [
      { when: "is busy", body: { to: phones.busy }, told: { end_reason: "user_busy", sip_status: 486 } },
      {
        when: "does not answer in time",
        body: { to: phones.neverAnswers, timeout_secs: 1 },
        told: { end_reason: "timeout", sip_status: null }
      },
      { when: "has no route", body: { to: "+12025550107" }, told: { end_reason: "no_route", sip_status: null } }
    ]
    for (const { body, told, when } of failures)
      it.effect(`that ${when} is told, and the first leg is kept and may be transferred again`, () =>
        Effect.gen(function* () {
          const a = yield* Service.tenant(yield* Running)
          const id = yield* a.answered(phones.echo)
          yield* a.act(id, "transfer", body)
          const event = yield* a.event(id, "call.transfer_failed")
          const call = yield* a.find(id)
          expect(event.data).toMatchObject({ ...told, leg_id: call.legs[1]?.id })
          expect([call.status, call.legs[1]?.status]).toEqual(["answered", "failed"])
          yield* a.act(id, "transfer", { to: phones.silent })
          yield* a.until(id, ({ status }) => status === "bridged")
          yield* a.act(id, "hangup")
        })
      )

    it.effect("of a bridged call leaves the leg before, which is hung up", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.echo)
        yield* a.act(id, "transfer", { to: phones.silent })
        yield* a.until(id, ({ status }) => status === "bridged")
        const again = yield* a.act(id, "transfer", { to: phones.echo })
        expect(again.json).toMatchObject({ status: "answered" })
        const call = yield* a.until(id, ({ legs }) => legs[2]?.status === "bridged")
        expect(call.legs.map(({ status }) => status)).toEqual(["bridged", "ended", "bridged"])
        yield* a.act(id, "hangup")
        const over = yield* a.find(id)
        expect(over.legs.map(({ end_initiator }) => end_initiator)).toEqual(["api", "api", "api"])
      })
    )

    it.effect("that rings when the call is hung up is cancelled, told before call.ended", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.echo)
        yield* a.act(id, "transfer", { to: phones.neverAnswers })
        yield* a.act(id, "hangup")
        yield* a.event(id, "call.ended")
        const types = (yield* a.events(id)).map(({ type }) => type)
        expect(types.slice(-2)).toEqual(["call.transfer_failed", "call.ended"])
      })
    )

    it.effect("is refused as a placed call is, and each refusal leaves the call as it was", () =>
      Effect.gen(function* () {
        const started = yield* Running
        const a = yield* Service.tenant(started)
        const accounts = Context.get(started.context, Accounts)
        const dialing = Context.get(started.context, DialingPermissions)
        const operator = { type: "operator", name: "test" } as const
        const unanswered = yield* a.place(phones.neverAnswers)
        expect(yield* a.refused(unanswered, "transfer", { to: phones.echo })).toEqual([
          409,
          "call_not_in_required_state"
        ])
        yield* a.act(unanswered, "hangup")
        expect(yield* a.refused(unanswered, "transfer", { to: phones.echo })).toEqual([409, "call_already_ended"])
        const nobody = `svc_call_${"0".repeat(32)}`
        expect(yield* a.refused(nobody, "transfer", { to: phones.echo })).toEqual([404, "not_found"])

        const id = yield* a.answered(phones.echo)
        const refused = (body: object) => a.refused(id, "transfer", body)
        for (const body of [
          {},
          { to: "12025550100" },
          { to: phones.echo, timeout_secs: 0 },
          { to: phones.echo, timeout_secs: 601 },
          { to: phones.echo, from: "me" },
          { to: phones.echo, custom_headers: [{ name: "Via", value: "1" }] },
          { to: phones.echo, more: 1 }
        ])
          expect([body, ...(yield* refused(body))]).toEqual([body, 400, "invalid_request"])
        expect(yield* refused({ to: phones.echo, from: "+12025550199" })).toEqual([403, "from_number_not_owned"])
        // Without any rates a minute costs a cent, which is less than such calls cost anywhere.
        for (const dear of ["+881612345678", "+19005550123", "+80812345678", "+11111111111", "+449098790000"])
          expect([dear, ...(yield* refused({ to: dear }))]).toEqual([dear, 403, "country_not_allowed"])
        const rule = yield* dialing.add({ tenantId: a.id, kind: "prefix_block", value: "+12025550101" })
        expect(yield* refused({ to: phones.busy })).toEqual([403, "prefix_blocked"])
        yield* dialing.remove(rule.id)
        const country = yield* dialing.add({ tenantId: a.id, kind: "country_block", value: "US" })
        expect(yield* refused({ to: phones.echo })).toEqual([403, "country_blocked"])
        yield* dialing.remove(country.id)
        yield* accounts.setQuota(a.id, { concurrentCallLimit: 1 }, operator)
        expect(yield* refused({ to: phones.echo })).toEqual([403, "concurrent_call_cap_exceeded"])
        yield* accounts.setQuota(a.id, { concurrentCallLimit: 2, dailySpendCapCents: 1 }, operator)
        expect(yield* refused({ to: phones.echo })).toEqual([403, "daily_spend_cap_exceeded"])
        yield* accounts.setQuota(a.id, { dailySpendCapCents: null, monthlySpendCapCents: 1 }, operator)
        expect(yield* refused({ to: phones.echo })).toEqual([403, "monthly_spend_cap_exceeded"])
        yield* accounts.setQuota(a.id, { monthlySpendCapCents: null }, operator)
        yield* a.broke
        expect(yield* refused({ to: phones.echo })).toEqual([402, "balance_insufficient"])
        yield* a.paid
        expect((yield* a.find(id)).legs.length).toBe(1)

        yield* a.act(id, "transfer", { to: phones.neverAnswers })
        expect(yield* refused({ to: phones.echo })).toEqual([409, "conflict"])
        // Its leg reaches the limit of two; its end frees the place.
        expect((yield* a.placing(phones.echo)).status).toBe(403)
        yield* a.act(id, "hangup")
        expect((yield* a.placing(phones.echo)).status).toBe(201)
      })
    )
  })

  describe.concurrent("bridge", () => {
    it.effect("connects two calls; both are told, and the end of one ends the other", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const [one, two] = [yield* a.answered(phones.echo), yield* a.answered(phones.hangsUp)]
        const [first, second] = [yield* a.find(one), yield* a.find(two)]
        yield* a.act(one, "bridge", { leg_id: second.legs[0]?.id })
        yield* a.until(one, ({ status }) => status === "bridged")
        yield* a.until(two, ({ status }) => status === "bridged")
        expect((yield* a.event(one, "call.bridged")).data).toMatchObject({
          bridged_call_id: two,
          bridged_leg_id: second.legs[0]?.id
        })
        expect((yield* a.event(two, "call.bridged")).data).toMatchObject({
          bridged_call_id: one,
          bridged_leg_id: first.legs[0]?.id
        })
        const over = yield* a.until(one, ({ status }) => status === "ended")
        expect([over.end_reason, over.end_initiator]).toEqual(["normal_clearing", "caller"])
        expect((yield* a.until(two, ({ status }) => status === "ended")).end_initiator).toBe("callee")
      })
    )

    it.effect("both at once is one bridge; a third takes one of the two, and the other is answered again", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const ids = [yield* a.answered(phones.echo), yield* a.answered(phones.silent), yield* a.answered(phones.silent)]
        const [one = "", two = "", three = ""] = ids
        const [l1 = "", l2 = ""] = yield* Effect.forEach(ids, (id) =>
          Effect.map(a.find(id), ({ legs }) => legs[0]?.id ?? "")
        )
        yield* Effect.all([a.act(one, "bridge", { leg_id: l2 }), a.act(two, "bridge", { leg_id: l1 })], {
          concurrency: 2
        })
        yield* a.until(one, ({ status }) => status === "bridged")
        yield* a.until(two, ({ status }) => status === "bridged")
        yield* a.act(three, "bridge", { leg_id: l1 })
        yield* a.until(three, ({ status }) => status === "bridged")
        yield* a.until(two, ({ status }) => status === "answered")
        const third = (yield* a.find(three)).legs[0]?.id
        const call = yield* a.until(one, ({ legs }) => legs[0]?.bridged_leg_id === third)
        expect(call.status).toBe("bridged")
        yield* Effect.forEach(ids, (id) => a.act(id, "hangup"))
        const types = (yield* a.events(two)).map(({ type }) => type)
        expect(types.filter((type) => type === "call.bridged").length).toBe(1)
        expect(types).not.toContain("call.bridge_failed")
      })
    )

    it.effect("is refused where it cannot be", () =>
      Effect.gen(function* () {
        const started = yield* Running
        const [a, b] = [yield* Service.tenant(started), yield* Service.tenant(started)]
        const [one, foreign] = [yield* a.answered(phones.echo), yield* b.answered(phones.silent)]
        const own = (yield* a.find(one)).legs[0]?.id
        const refused = (leg_id: unknown) => a.refused(one, "bridge", { leg_id })
        expect(yield* a.refused(one, "bridge", {})).toEqual([400, "invalid_request"])
        expect(yield* refused("svc_leg_1")).toEqual([400, "invalid_request"])
        expect(yield* refused(`svc_leg_${"0".repeat(32)}`)).toEqual([404, "not_found"])
        expect(yield* refused((yield* b.find(foreign)).legs[0]?.id)).toEqual([404, "not_found"])
        expect(yield* refused(own)).toEqual([422, "unprocessable"])
        yield* a.act(one, "transfer", { to: phones.busy })
        yield* a.event(one, "call.transfer_failed")
        expect(yield* refused((yield* a.find(one)).legs[1]?.id)).toEqual([404, "not_found"])
        const ringing = yield* a.place(phones.neverAnswers)
        expect(yield* refused((yield* a.find(ringing)).legs[0]?.id)).toEqual([409, "call_not_in_required_state"])
        expect(yield* a.refused(ringing, "bridge", { leg_id: own })).toEqual([409, "call_not_in_required_state"])
        yield* a.act(ringing, "hangup")
        expect(yield* a.refused(ringing, "bridge", { leg_id: own })).toEqual([409, "call_already_ended"])
        yield* a.act(one, "transfer", { to: phones.neverAnswers })
        const other = yield* a.answered(phones.silent)
        expect(yield* a.refused(other, "bridge", { leg_id: own })).toEqual([409, "conflict"])
        expect(yield* refused((yield* a.find(other)).legs[0]?.id)).toEqual([409, "conflict"])
      })
    )
  })

  describe.concurrent("play for the other leg", () => {
    // Nothing is fetched in these tests, so every sound ends as not fetched.
    const sound = (target_legs: string) => ({ url: "https://media.example.com/a.wav", target_legs })
    const ends = (told: ReadonlyArray<Service.Told>) =>
      told.flatMap(({ data, type }) => (type === "call.playback_ended" ? [[data["status"], data["leg_id"]]] : []))

    it.effect("needs a bridged call, and is told to the call that asked, on its leg", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const [one, two] = [yield* a.answered(phones.echo), yield* a.answered(phones.silent)]
        for (const target of ["opposite", "both"])
          expect(yield* a.refused(one, "play", sound(target))).toEqual([409, "call_not_in_required_state"])
        const [own, other] = [(yield* a.find(one)).legs[0]?.id, (yield* a.find(two)).legs[0]?.id]
        yield* a.act(one, "bridge", { leg_id: other })
        yield* a.until(one, ({ status }) => status === "bridged")
        yield* a.until(two, ({ status }) => status === "bridged")
        expect((yield* a.act(one, "play", sound("opposite"))).status).toBe(200)
        expect((yield* a.act(two, "play", sound("both"))).status).toBe(200)
        yield* a.event(one, "call.playback_ended")
        yield* a.event(two, "call.playback_ended")
        yield* a.act(one, "hangup")
        yield* a.until(two, ({ status }) => status === "ended")
        expect(ends(yield* a.events(one))).toEqual([["failed", own]])
        expect(ends(yield* a.events(two))).toEqual([["failed", other]])
      })
    )

    it.effect("is heard by the leg of a transfer", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.echo)
        yield* a.act(id, "transfer", { to: phones.silent })
        yield* a.until(id, ({ status }) => status === "bridged")
        yield* a.act(id, "play", sound("opposite"))
        const told = yield* a.event(id, "call.playback_ended")
        expect([told.data["status"], told.data["leg_id"]]).toEqual(["failed", (yield* a.find(id)).legs[0]?.id])
        yield* a.act(id, "hangup")
      })
    )
  })

  describe.concurrent("refer", () => {
    it.effect("tells how it went, and the far end leaves", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.echo)
        yield* a.act(id, "refer", { sip_address: `sip:${phones.echo}@example.com` })
        expect((yield* a.event(id, "call.refer_completed")).data).toMatchObject({ sip_status: 200 })
        // This phone stays on the call, so the service hangs up.
        const over = yield* a.until(id, ({ status }) => status === "ended")
        expect([over.end_reason, over.end_initiator]).toEqual(["normal_clearing", "api"])
      })
    )

    it.effect("that is refused leaves the call; bad addresses and states are refused", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.refusesReferral)
        yield* a.act(id, "refer", { sip_address: `sip:${phones.echo}@example.com` })
        expect((yield* a.event(id, "call.refer_failed")).data).toMatchObject({ reason: "rejected", sip_status: 603 })
        expect((yield* a.find(id)).status).toBe("answered")
        expect(yield* a.refused(id, "refer", { sip_address: "bob" })).toEqual([400, "invalid_request"])
        yield* a.act(id, "hangup")
        expect(yield* a.refused(id, "refer", { sip_address: "sip:a@b" })).toEqual([409, "call_already_ended"])
      })
    )
  })

  describe("refer", () => {
    it.effect("asks no far end to call a number that the workspace may not call", () =>
      Effect.gen(function* () {
        const { context } = yield* Running
        const dialing = Context.get(context, DialingPermissions)
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.refusesReferral)
        const refused = (user: string) => a.refused(id, "refer", { sip_address: `sip:${user}@carrier.example` })
        const cuba = yield* dialing.add({ tenantId: a.id, kind: "country_block", value: "CU" })
        for (const user of ["+5352123456", "005352123456", "5352123456", "%2B53-5212-3456", "+5352123456;isub=1"])
          expect([user, ...(yield* refused(user))]).toEqual([user, 403, "country_blocked"])
        yield* dialing.remove(cuba.id)
        yield* dialing.add({ tenantId: a.id, kind: "class_block", value: "premium_rate" })
        expect(yield* refused("+19005550123")).toEqual([403, "prefix_blocked"])
        yield* dialing.add({ tenantId: a.id, kind: "country_allow", value: "US" })
        expect(yield* refused("+4930123456")).toEqual([403, "country_not_allowed"])
        expect((yield* a.find(id)).status).toBe("answered")
        for (const user of ["1001", "support", "+12025550123"]) {
          yield* a.act(id, "refer", { sip_address: `sip:${user}@carrier.example` })
          yield* a.until(id, ({ status }) => status === "answered")
        }
      })
    )
  })

  describe.concurrent("at the same moment", () => {
    const together = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
      Effect.all(effects, { concurrency: "unbounded" })
    const named = (told: ReadonlyArray<Service.Told>, ...names: ReadonlyArray<string>) =>
      told.filter(({ type }) => names.includes(type)).map(({ type }) => type)

    for (const ending of ["asks", "is asked for", "both"] as const)
      it.effect(
        `as a bridge, a hang-up of the call that ${ending}: the bridge has one outcome, and both calls end`,
        () =>
          Effect.gen(function* () {
            const a = yield* Service.tenant(yield* Running)
            const round = Effect.gen(function* () {
              const [one, two] = yield* together([a.answered(phones.echo), a.answered(phones.silent)])
              if (one === undefined || two === undefined) return
              const leg_id = (yield* a.find(two)).legs[0]?.id
              const hangUps = [
                ...(ending === "is asked for" ? [] : [a.act(one, "hangup")]),
                ...(ending === "asks" ? [] : [a.act(two, "hangup")])
              ]
              const [bridging] = yield* together([a.act(one, "bridge", { leg_id }), ...hangUps])
              // Either the bridge ended the other call, or that call still exists.
              yield* Effect.sleep("100 millis")
              yield* together([a.act(one, "hangup"), a.act(two, "hangup")])
              yield* together([one, two].map((id) => a.until(id, ({ status }) => status === "ended")))
              yield* together([one, two].map((id) => a.event(id, "call.ended")))
              const told = yield* a.events(one)
              expect([bridging?.status, named(told, "call.bridged", "call.bridge_failed").length]).toEqual(
                bridging?.status === 200 ? [200, 1] : [bridging?.status, 0]
              )
              for (const id of [one, two]) expect((yield* a.events(id)).at(-1)?.type).toBe("call.ended")
            })
            for (let n = 0; n < 3; n++) yield* together([round, round, round])
          })
      )

    it.effect("as its timeout, the answer of a transfer's leg: one outcome, which the call then has", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const round = Effect.gen(function* () {
          const id = yield* a.answered(phones.silent)
          // This phone answers after a second, too.
          yield* a.act(id, "transfer", { to: phones.echo, timeout_secs: 1 })
          yield* Effect.sleep("1500 millis")
          const call = yield* a.until(id, ({ legs }) => legs[1]?.status === "bridged" || legs[1]?.status === "failed")
          const isBridged = call.legs[1]?.status === "bridged"
          yield* a.act(id, "hangup")
          const told = yield* a.events(id)
          expect(named(told, "call.bridged", "call.transfer_failed")).toEqual([
            isBridged ? "call.bridged" : "call.transfer_failed"
          ])
        })
        for (let n = 0; n < 2; n++) yield* together([round, round, round])
      })
    )

    it.effect("as each other, a transfer and a bridge: one is a conflict, and what was begun has one outcome", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const [one, two] = [yield* a.answered(phones.echo), yield* a.answered(phones.silent)]
        const leg_id = (yield* a.find(two)).legs[0]?.id
        const answers = yield* together([
          a.act(one, "transfer", { to: phones.silent }),
          a.act(one, "bridge", { leg_id })
        ])
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
        yield* a.until(one, ({ status }) => status === "bridged")
        yield* together([a.act(one, "hangup"), a.act(two, "hangup")])
        expect(named(yield* a.events(one), "call.bridged", "call.transfer_failed", "call.bridge_failed")).toEqual([
          "call.bridged"
        ])
      })
    )

    it.effect("a referral that is never reported ends with the call, told once before it", () =>
      Effect.gen(function* () {
        const a = yield* Service.tenant(yield* Running)
        const id = yield* a.answered(phones.silentReferral)
        yield* a.act(id, "refer", { sip_address: "sip:a@example.com" })
        expect(yield* a.refused(id, "bridge", { leg_id: `svc_leg_${"0".repeat(32)}` })).toEqual([409, "conflict"])
        yield* a.act(id, "hangup")
        yield* a.event(id, "call.ended")
        expect((yield* a.events(id)).slice(-2).map(({ type }) => type)).toEqual(["call.refer_failed", "call.ended"])
      })
    )
  })
})
