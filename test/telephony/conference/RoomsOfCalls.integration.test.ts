import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import type { Body } from "../../../src/telephony/verb/Verb.ts"
import * as ConferenceVerbs from "../../../src/telephony/conference/verb/ConferenceVerbs.ts"
import type { ApiError } from "../../../src/domain/ApiError.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Service from "../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** Calls in rooms of conferences, guide/calls.md#conferences: both running, with simulated phones. */
const phones = { silent: "+12025550116", busy: "+12025550101", neverAnswers: "+12025550102" }

class Running extends Context.Service<
  Running,
  Effect.Success<ReturnType<typeof Service.start>> & { readonly conferences: Conferences["Service"] }
>()("test/Running") {}

const running = Layer.effect(
  Running,
  Effect.gen(function* () {
    const service = yield* Service.start("rooms of calls")
    return { ...service, conferences: Context.get(service.context, Conferences) }
  }).pipe(Effect.orDie)
).pipe(Layer.provideMerge(TestDatabase.layer), Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")))

interface View {
  readonly id: Id.ConferenceId
  readonly status: string
  readonly participants: ReadonlyArray<{
    readonly id: Id.MemberId
    readonly call_id: Id.CallId
    readonly joined_at: string | null
    readonly left_at: string | null
  }>
}

let names = 0

/** A tenant, with its requests to conferences. */
const tenant = Effect.gen(function* () {
  const service = yield* Running
  const { conferences } = service
  const a = yield* Service.tenant(service)
  const sql = yield* SqlClient.SqlClient
  const [key] = yield* sql<{ readonly id: Id.ApiKeyId }>`SELECT id FROM api_key WHERE tenant_id = ${a.id}`
  const keyId = key?.id ?? (yield* Effect.die(new Error("no key")))
  const caller = { tenantId: a.id, keyId, name: "Default", member: null, ip: null }
  const create = (hostCallId: string, more: object = {}) =>
    Effect.map(
      conferences.create(
        caller,
        {
          name: `room ${++names}`,
          hostCallId: hostCallId as Id.CallId,
          beepEnabled: "never",
          startOnCreate: true,
          endOnExit: false,
          maxParticipants: 10,
          durationMinutes: 60,
          ...more
        },
        null
      ),
      ({ body }) => JSON.parse(body ?? "") as View
    )
  const act = (id: Id.ConferenceId, verb: "join" | "end" | "record_start", body: object = {}) =>
    conferences.act(
      caller,
      id,
      ConferenceVerbs.action(verb, Schema.decodeUnknownSync<Body>(ConferenceVerbs.table[verb].body)(body)),
      null
    )
  const dial = (id: Id.ConferenceId, to: string) =>
    Effect.map(
      conferences.dial(
        caller,
        id,
        {
          from: a.number,
          to,
          routeId: null,
          customerReference: null,
          timeoutSecs: 60,
          callerIdForwarding: false
        },
        null
      ),
      ({ body }) => JSON.parse(body ?? "") as View["participants"][number]
    )
  const until = Effect.fnUntraced(function* (id: Id.ConferenceId, reached: (view: View) => boolean) {
    for (let waited = 0; waited < 500; waited++) {
      const view = (yield* conferences.find(a.id, id)) as unknown as View
      if (reached(view)) return view
      yield* Effect.sleep("20 millis")
    }
    return yield* Effect.die(new Error(`stays ${JSON.stringify(yield* conferences.find(a.id, id))}`))
  })
  /** Waits until the conference and all calls of the tenant are settled. */
  const settled = Effect.gen(function* () {
    for (let waited = 0; waited < 500; waited++) {
      const rows = yield* sql<{ readonly id: string }>`
        SELECT id FROM entity WHERE tenant_id = ${a.id} AND NOT settled AND kind IN ('call', 'conference')`
      if (rows.length === 0) return
      yield* Effect.sleep("20 millis")
    }
    return yield* Effect.die(new Error("something is not settled"))
  })
  const joined = (count: number) => (view: View) =>
    view.participants.filter(({ joined_at, left_at }) => joined_at !== null && left_at === null).length === count
  return { ...a, reach: a.until, ask: a.act, create, act, dial, until, joined, settled }
})

const code = <A>(asked: Effect.Effect<A, ApiError>) => Effect.map(Effect.flip(asked), (refused) => refused.code)

layer(running, { timeout: "60 seconds", excludeTestServices: true })("Calls in rooms", (it) => {
  describe.concurrent("of conferences", () => {
    it.effect("are bridged in it, hung up with it, and told so", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        const [host, other] = [yield* a.answered(phones.silent), yield* a.answered(phones.silent)]
        const { id } = yield* a.create(host)
        yield* a.act(id, "join", { call_id: other })
        yield* a.until(id, a.joined(2))
        for (const call of [host, other]) {
          const { legs } = yield* a.reach(call, ({ status }) => status === "bridged")
          expect(legs[0]).toMatchObject({ conference_id: id, bridged_leg_id: null, status: "bridged" })
          expect((yield* a.event(call, "call.bridged")).data).toMatchObject({
            bridged_call_id: null,
            bridged_leg_id: null,
            conference_id: id
          })
        }
        expect(yield* code(a.act(id, "join", { call_id: other }))).toBe("conflict")
        yield* a.act(id, "end")
        for (const call of [host, other]) {
          const over = yield* a.reach(call, ({ status }) => status === "ended")
          expect([over.end_reason, over.end_initiator]).toEqual(["conference_ended", "api"])
        }
        yield* a.settled
      })
    )

    it.effect("leave it to be transferred, and the room goes on; who hangs up has left", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        const [host, moved, gone] = [
          yield* a.answered(phones.silent),
          yield* a.answered(phones.silent),
          yield* a.answered(phones.silent)
        ]
        const { id } = yield* a.create(host)
        for (const call of [moved, gone]) yield* a.act(id, "join", { call_id: call })
        yield* a.until(id, a.joined(3))
        for (const call of [moved, gone]) yield* a.reach(call, ({ status }) => status === "bridged")
        expect((yield* a.ask(moved, "transfer", { to: phones.silent })).status).toBe(200)
        yield* a.until(id, a.joined(2))
        const call = yield* a.reach(moved, ({ legs }) => legs.every(({ status }) => status === "bridged"))
        expect(call.legs.map(({ conference_id }) => conference_id)).toEqual([null, null])
        yield* a.ask(gone, "hangup", {})
        yield* a.until(id, a.joined(1))
        // The call comes back as another member.
        yield* a.act(id, "join", { call_id: moved })
        yield* a.until(id, a.joined(2))
        yield* a.reach(
          moved,
          ({ legs, status }) => legs.length === 2 && legs[1]?.status === "ended" && status === "bridged"
        )
        yield* a.ask(host, "hangup", {})
        yield* a.until(id, a.joined(1))
        yield* a.ask(moved, "hangup", {})
        yield* a.until(id, ({ status }) => status === "completed")
        yield* a.settled
      })
    )

    it.effect("are dialled for it, and hung up where it ends while they ring", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        const host = yield* a.answered(phones.silent)
        const { id } = yield* a.create(host)
        yield* a.until(id, a.joined(1))
        const there = yield* a.dial(id, phones.silent)
        const busy = yield* a.dial(id, phones.busy)
        const rings = yield* a.dial(id, phones.neverAnswers)
        yield* a.until(id, a.joined(2))
        yield* a.reach(there.call_id, ({ status }) => status === "bridged")
        yield* a.reach(busy.call_id, ({ status }) => status === "failed")
        const memberships = (yield* a.until(id, ({ participants }) =>
          participants.some((membership) => membership.id === busy.id && membership.left_at !== null)
        )).participants
        expect(memberships.find((membership) => membership.id === rings.id)).toMatchObject({
          joined_at: null,
          left_at: null
        })
        yield* a.act(id, "end")
        for (const call of [host, there.call_id, rings.call_id])
          expect((yield* a.reach(call, ({ status }) => status === "ended")).end_reason).toBe("conference_ended")
        yield* a.settled
      })
    )

    it.effect("are in one room, however many ask at once", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        const rooms = yield* Effect.forEach([1, 2, 3], () =>
          Effect.flatMap(a.answered(phones.silent), (host) => a.create(host))
        )
        const call = yield* a.answered(phones.silent)
        const outcomes = yield* Effect.forEach(
          [...rooms, ...rooms, ...rooms].slice(0, 8),
          ({ id }) => Effect.result(a.act(id, "join", { call_id: call })),
          { concurrency: "unbounded" }
        )
        expect(outcomes.some(({ _tag }) => _tag === "Success")).toBe(true)
        yield* a.reach(call, ({ status }) => status === "bridged")
        // Every membership but one is free again.
        let there = 0
        for (const { id } of rooms) {
          const { participants } = yield* a.until(id, (view) =>
            view.participants.every(({ joined_at, left_at }) => joined_at !== null || left_at !== null)
          )
          there += participants.filter(({ call_id, left_at }) => call_id === call && left_at === null).length
        }
        expect(there).toBe(1)
        for (const { id } of rooms) yield* a.act(id, "end")
        yield* a.settled
      })
    )

    it.effect("pay for their minutes, and are refused without money", () =>
      Effect.gen(function* () {
        const { context } = yield* Running
        const billing = Context.get(context, Billing)
        const a = yield* tenant
        yield* billing.setPrice("conference", 30_000)
        const [host, other] = [yield* a.answered(phones.silent), yield* a.answered(phones.silent)]
        yield* billing.setPrice("conference", 0)
        const { id } = yield* a.create(host)
        yield* a.until(id, a.joined(1))
        yield* a.broke
        expect(yield* code(a.act(id, "join", { call_id: other }))).toBe("balance_insufficient")
        expect(yield* code(a.dial(id, phones.silent))).toBe("balance_insufficient")
        yield* a.paid
        yield* a.act(id, "join", { call_id: other })
        yield* a.until(id, a.joined(2))
        yield* a.act(id, "end")
        yield* a.settled
        const { results } = yield* billing.ledger(a.id, {}, { offset: 0, limit: 10 })
        expect(results.filter(({ type }) => type === "conference_charge").map((entry) => entry.amount_cents)).toEqual([
          -3, -3
        ])
        const sql = yield* SqlClient.SqlClient
        const [sum] = yield* sql<{ readonly cents: number }>`
          SELECT sum(amount_cents) AS cents FROM ledger WHERE tenant_id = ${a.id}`
        expect((yield* billing.balance(a.id)).balance_cents).toBe(sum?.cents)
        expect((yield* Context.get(context, Accounts).overview(a.id)).tally.reservedCents).toBe(0)
      })
    )

    it.effect(
      "are recorded with the room for money; a recording that fails in it gives back what was reserved, and costs nothing",
      () =>
        Effect.gen(function* () {
          const { context } = yield* Running
          const billing = Context.get(context, Billing)
          const accounts = Context.get(context, Accounts)
          const a = yield* tenant
          const host = yield* a.answered(phones.silent)
          const { id } = yield* a.create(host)
          yield* a.until(id, a.joined(1))
          const reserved = () => Effect.map(accounts.overview(a.id), ({ tally }) => tally.reservedCents)
          const before = yield* reserved()
          yield* billing.setPrice("recording", 40_000)
          yield* a.broke
          expect(yield* code(a.act(id, "record_start", { format: "wav" }))).toBe("balance_insufficient")
          yield* a.paid
          yield* a.act(id, "record_start", { format: "wav" })
          yield* billing.setPrice("recording", 0)
          // This service has no recorder.
          const sql = yield* SqlClient.SqlClient
          const failed = Effect.map(
            sql`SELECT 1 FROM event WHERE entity_id = ${id} AND type = 'recording.failed'`,
            ({ length }) => length === 1
          )
          while (!(yield* failed)) yield* Effect.sleep("10 millis")
          while ((yield* reserved()) !== before) yield* Effect.sleep("10 millis")
          yield* a.act(id, "end")
          yield* a.reach(host, ({ status }) => status === "ended")
          const { results } = yield* billing.ledger(a.id, {}, { offset: 0, limit: 10 })
          expect(results.filter(({ type }) => type === "recording_charge")).toEqual([])
          while ((yield* reserved()) !== 0) yield* Effect.sleep("10 millis")
          const [sum] = yield* sql<{ readonly cents: number }>`
          SELECT sum(amount_cents) AS cents FROM ledger WHERE tenant_id = ${a.id}`
          expect((yield* accounts.overview(a.id)).tally.balanceCents).toBe(sum?.cents)
        })
    )
  })
})
