import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import type { Caller } from "../../../src/runtime/audit/Audit.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import type * as Id from "../../../src/domain/Id.ts"
import * as Sample from "../call/CallSample.ts"
import * as Features from "../../support/service/Features.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { FakeSwitch } from "./FakeSwitch.ts"

/** Conferences of a process that dies with its switch, and their recovery from rows by the next one. */
const process = (label: string) =>
  Layer.merge(FakeSwitch.layer, Conferences.layer({ wantsSpeaking: () => Effect.succeed(false) })).pipe(
    Layer.provideMerge(Calls.layer({ maxCallSecs: 3600 })),
    Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
    Layer.provideMerge(Features.startedAgain(label)),
    Layer.orDie
  )

const operator = { type: "operator", name: "test" } as const
const request = Sample.request("+12025550199", { callerIdForwarding: true })
let starts = 0

/** Starts a process; `kill` leaves only what a dead one leaves. */
const start = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(process(`conferences ${++starts}`), scope)
  const [calls, conferences] = [Context.get(services, Calls), Context.get(services, Conferences)]
  const fake = Context.get(services, FakeSwitch)
  yield* calls.recover
  yield* conferences.recover

  const tenant = Effect.gen(function* () {
    const { caller, id } = yield* Features.newTenant()
    yield* (yield* Billing).adjust(id, 100_000, "test")
    const limits = { concurrentCallLimit: 400, dailySpendCapCents: 1_000_000, monthlySpendCapCents: 1_000_000 }
    yield* (yield* Accounts).setQuota(id, { allowCallerIdForwarding: true, ...limits }, operator)
    yield* (yield* Accounts).moneyMoved(id)
    return caller
  }).pipe(Effect.provide(services))

  const talking = Effect.fnUntraced(function* (caller: Caller) {
    const { body } = yield* calls.place(caller, request, null)
    const call = JSON.parse(body ?? "") as { readonly id: Id.CallId; readonly legs: readonly [{ id: Id.LegId }] }
    fake.answers(call.id, call.legs[0].id)
    yield* until(Effect.map(calls.find(caller.tenantId, call.id), ({ status }) => status === "answered"))
    return call.id
  })
  const create = Effect.fnUntraced(function* (caller: Caller, name: string, hostCallId: Id.CallId) {
    const fields = { beepEnabled: "never", startOnCreate: true, endOnExit: true } as const
    const numbers = { maxParticipants: 10, durationMinutes: 720 }
    const { body } = yield* conferences.create(caller, { name, hostCallId, ...fields, ...numbers }, null)
    return (JSON.parse(body ?? "") as { readonly id: Id.ConferenceId }).id
  })
  const join = (caller: Caller, room: Id.ConferenceId, callId: Id.CallId) =>
    conferences.act(caller, room, { verb: "join", body: { callId, mute: false, hold: false } }, null)
  const dial = Effect.fnUntraced(function* (caller: Caller, room: Id.ConferenceId) {
    const asked = { ...request, timeoutSecs: 30, customerReference: null }
    const { body } = yield* conferences.dial(caller, room, asked, null)
    return (JSON.parse(body ?? "") as { readonly call_id: Id.CallId }).call_id
  })
  /** A room with its host, another member in it, and a ringing one. */
  const meeting = Effect.fnUntraced(function* (caller: Caller, name: string) {
    const [host, other] = [yield* talking(caller), yield* talking(caller)]
    const room = yield* create(caller, name, host)
    yield* join(caller, room, other)
    const there = Effect.map(
      conferences.find(caller.tenantId, room),
      ({ participants }) => participants.filter(({ joined_at }) => joined_at !== null).length
    )
    yield* until(Effect.map(there, (count) => count === 2))
    const ringing = yield* dial(caller, room)
    return { room, host, other, ringing }
  })
  return { calls, conferences, fake, tenant, talking, create, join, dial, meeting, kill: Scope.close(scope, Exit.void) }
})

const until = Effect.fnUntraced(function* (is: Effect.Effect<boolean, unknown>) {
  for (let waited = 0; waited < 2_000; waited++) {
    if (yield* Effect.orDie(is)) return
    yield* Effect.sleep("10 millis")
  }
  return yield* Effect.die(new Error("it never came to be"))
})

/** The members that joined and left by the events of a room, and how often it ended. */
const told = Effect.fnUntraced(function* (room: Id.ConferenceId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string; readonly member: string | null }>`
    SELECT type, body::jsonb -> 'data' ->> 'member_id' AS member FROM event WHERE entity_id = ${room}`
  const of = (type: string) =>
    rows.flatMap((row) => (row.type === `conference.${type}` ? [row.member ?? "room"] : [])).toSorted()
  return { joined: of("member_joined"), left: of("member_left"), ended: of("ended") }
})

/** The room is over, in its rows too, and each of its members has left once. */
const isOver = Effect.fnUntraced(function* (room: Id.ConferenceId) {
  const sql = yield* SqlClient.SqlClient
  const { ended, joined, left } = yield* told(room)
  expect(left).toEqual(joined)
  expect(new Set(joined).size).toBe(joined.length)
  expect(ended).toEqual(["room"])
  expect(yield* sql`SELECT status FROM conference WHERE id = ${room}`).toEqual([{ status: "completed" }])
  expect(yield* sql`SELECT id FROM conference_participant WHERE conference_id = ${room} AND left_at IS NULL`).toEqual(
    []
  )
})
const settled = Effect.fnUntraced(function* (room: Id.ConferenceId) {
  const sql = yield* SqlClient.SqlClient
  yield* until(Effect.map(sql`SELECT FROM entity WHERE id = ${room} AND settled`, ({ length }) => length === 1))
})

const quiet = Layer.provideMerge(TestDatabase.layer, Layer.succeed(References.MinimumLogLevel, "None"))

describe("Conferences of a process that is gone", () => {
  layer(quiet, { excludeTestServices: true, timeout: "100 seconds" })((it) => {
    it.effect(
      "are over in the next one: all have left once, calls ended, names are free, nobody is dialled again",
      () =>
        Effect.gen(function* () {
          const first = yield* start
          const caller = yield* first.tenant
          const { host, other, ringing, room } = yield* first.meeting(caller, "Weekly")
          expect(first.fake.dialled()).toEqual([host, other, ringing])
          yield* first.kill

          const second = yield* start
          yield* settled(room)
          yield* isOver(room)
          expect((yield* told(room)).joined).toHaveLength(2)
          for (const [callId, status] of [
            [host, "ended"],
            [other, "ended"],
            [ringing, "failed"]
          ] as const)
            expect(yield* second.calls.find(caller.tenantId, callId)).toMatchObject({
              status,
              end_reason: "carrier_error",
              end_initiator: "system"
            })
          expect(second.fake.dialled()).toEqual([])
          expect(yield* second.conferences.liveCount).toBe(0)
          yield* second.create(caller, "Weekly", yield* second.talking(caller))
          yield* second.kill
        })
    )

    it.effect(
      "end cleanly wherever they were cut off while they were made, joined and dialled into, and whoever asked is answered",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const afterMs of [2, 16, 40]) {
            const first = yield* start
            const caller = yield* first.tenant
            const pairs = yield* Effect.forEach(["one", "two", "three"], (name) =>
              Effect.map(
                Effect.all([first.talking(caller), first.talking(caller)]),
                ([host, other]) => ({ name: `${name} of ${afterMs}`, host, other }) as const
              )
            )
            const askers = yield* Effect.forEach(pairs, ({ host, name, other }) =>
              first.create(caller, name, host).pipe(
                Effect.flatMap((room) =>
                  Effect.all([first.join(caller, room, other), first.dial(caller, room)], { concurrency: 2 })
                ),
                Effect.forkChild
              )
            )
            yield* Effect.sleep(afterMs)
            yield* first.kill
            // No request is interrupted: a dead process keeps none waiting.
            for (const asker of askers) yield* Fiber.await(asker)

            const second = yield* start
            const rooms = yield* sql<{ readonly id: Id.ConferenceId }>`
              SELECT id FROM conference WHERE tenant_id = ${caller.tenantId}`
            for (const { id } of rooms) {
              yield* settled(id)
              yield* isOver(id)
            }
            const unsettled = sql`
              SELECT FROM entity WHERE tenant_id = ${caller.tenantId} AND kind <> 'account' AND NOT settled`
            yield* until(Effect.map(unsettled, ({ length }) => length === 0))
            const dialled = first.fake.dialled()
            expect(new Set(dialled).size, "nobody is dialled twice").toBe(dialled.length)
            expect(second.fake.dialled()).toEqual([])
            expect(yield* second.conferences.liveCount).toBe(0)
            yield* second.kill
          }
        }),
      90_000
    )

    it.effect("end cleanly where a row cannot be read any more", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const first = yield* start
        const caller = yield* first.tenant
        const damaged = yield* first.meeting(caller, "Damaged")
        const strange = yield* first.meeting(caller, "Strange")
        yield* first.kill
        yield* sql`UPDATE entity_element SET value = value - 'phase' WHERE entity_id = ${damaged.room}`
        yield* sql`UPDATE entity SET state = '{"hello": ["there"]}' WHERE id = ${strange.room}`
        const second = yield* start
        yield* settled(damaged.room)
        for (const { room } of [damaged, strange]) {
          yield* isOver(room)
          expect((yield* told(room)).left).toHaveLength(2)
          expect((yield* second.conferences.find(caller.tenantId, room)).status).toBe("completed")
        }
        for (const name of ["Damaged", "Strange"]) yield* second.create(caller, name, yield* second.talking(caller))
        yield* second.kill
      })
    )

    it.effect("have ended before it stops, with their calls", () =>
      Effect.gen(function* () {
        const engine = yield* start
        const caller = yield* engine.tenant
        const { host, other, ringing, room } = yield* engine.meeting(caller, "Last")
        yield* engine.conferences.drain(0)
        yield* isOver(room)
        yield* settled(room)
        for (const callId of [host, other, ringing])
          expect(yield* engine.calls.find(caller.tenantId, callId)).toMatchObject({
            end_reason: "conference_ended",
            end_initiator: "system"
          })
        const refused = yield* Effect.flip(engine.create(caller, "Later", host))
        expect(refused).toMatchObject({ code: "service_unavailable" })
        yield* engine.kill
      })
    )
  })
})
