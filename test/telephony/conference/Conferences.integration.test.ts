import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import type { Conference } from "../../../src/telephony/conference/ConferenceView.ts"
import * as Id from "../../../src/domain/Id.ts"
import type { Rendered } from "../../../src/runtime/idempotency/Slot.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as Sample from "../call/CallSample.ts"
import * as Features from "../../support/service/Features.ts"
import { FakeSwitch } from "./FakeSwitch.ts"

/** Conferences and calls through their APIs, over rows, with a fake switch. */
const wanting = new Set<Id.TenantId>()
const world = Layer.merge(
  FakeSwitch.layer,
  Conferences.layer({ wantsSpeaking: (tenantId) => Effect.succeed(wanting.has(tenantId)) })
).pipe(
  Layer.provideMerge(Calls.layer({ maxCallSecs: 3600 })),
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)
const operator = { type: "operator", name: "test" } as const
const request = Sample.request("+12025550199", { callerIdForwarding: true })

const start = Effect.gen(function* () {
  const fake = yield* FakeSwitch
  const { caller, id } = yield* Features.newTenant()
  const accounts = yield* Accounts
  yield* (yield* Billing).adjust(id, 100_000, "test")
  yield* accounts.setQuota(
    id,
    {
      allowCallerIdForwarding: true,
      concurrentCallLimit: 400,
      dailySpendCapCents: 1_000_000,
      monthlySpendCapCents: 1_000_000
    },
    operator
  )
  yield* accounts.moneyMoved(id)
  const calls = yield* Calls
  const conferences = yield* Conferences

  const until = Effect.fnUntraced(function* (what: string, is: () => Effect.Effect<boolean, unknown>) {
    // A message that is lost between the two is repeated after ten seconds.
    for (let waited = 0; waited < 2_500; waited++) {
      if (yield* Effect.orDie(is())) return
      yield* Effect.sleep("10 millis")
    }
    return yield* Effect.die(new Error(`it never came to be: ${what}`))
  })
  const talking = Effect.gen(function* () {
    const { body } = yield* calls.place(caller, request, null)
    const { id: callId, legs } = JSON.parse(body ?? "") as {
      readonly id: Id.CallId
      readonly legs: readonly [{ readonly id: Id.LegId }]
    }
    fake.answers(callId, legs[0].id)
    yield* until("the call is answered", () =>
      Effect.map(calls.find(id, callId), ({ status }) => status === "answered")
    )
    return { callId, legId: legs[0].id }
  })
  const roomOf = ({ body }: Rendered) => JSON.parse(body ?? "") as Conference & { readonly id: Id.ConferenceId }
  const created = Effect.fnUntraced(function* (
    name: string,
    hostCallId: Id.CallId,
    more: { readonly maxParticipants?: number; readonly endOnExit?: boolean } = {}
  ) {
    const asked = {
      name,
      hostCallId,
      beepEnabled: "never" as const,
      startOnCreate: true,
      endOnExit: true,
      maxParticipants: 10,
      durationMinutes: 720,
      ...more
    }
    return roomOf(yield* conferences.create(caller, asked, null))
  })
  const join = (conferenceId: Id.ConferenceId, callId: Id.CallId) =>
    conferences.act(caller, conferenceId, { verb: "join", body: { callId, mute: false, hold: false } }, null)
  const joined = (conferenceId: Id.ConferenceId, count: number) =>
    until("so many are in", () =>
      Effect.map(
        conferences.find(id, conferenceId),
        ({ participants }) =>
          participants.filter(({ joined_at, left_at }) => joined_at !== null && left_at === null).length === count
      )
    )
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const events = (conferenceId: Id.ConferenceId) =>
    Effect.map(
      sql<{ readonly type: string; readonly member: string | null }>`
        SELECT type, body::jsonb -> 'data' ->> 'member_id' AS member FROM event
        WHERE entity_id = ${conferenceId} ORDER BY sequence`,
      (rows) => rows
    )
  const settled = (conferenceId: Id.ConferenceId) =>
    until("it settles", () => Effect.map(journal.find(conferenceId), (row) => row?.settled === true))
  return { fake, caller, id, calls, conferences, talking, created, join, joined, events, settled, until } as const
})

const codes = (results: ReadonlyArray<{ readonly _tag: string; readonly failure?: { readonly code: string } }>) =>
  results.map((result) => (result._tag === "Success" ? "ok" : (result.failure?.code ?? "?")))

const alike = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.toSorted().join() === others.toSorted().join()

describe("Conferences and calls", () => {
  layer(world, { excludeTestServices: true, timeout: "200 seconds" })((it) => {
    it.effect("meet: a host, one who joins, one who is dialled; and end together", () =>
      Effect.gen(function* () {
        const { calls, caller, conferences, created, events, fake, id, join, joined, settled, talking, until } =
          yield* start
        const host = yield* talking
        const room = yield* created("Weekly", host.callId)
        expect([room.status, room.participants.map(({ role }) => role)]).toEqual(["init", ["host"]])
        yield* joined(room.id, 1)
        const other = yield* talking
        yield* join(room.id, other.callId)
        const membership = yield* conferences.dial(
          caller,
          room.id,
          { ...request, timeoutSecs: 30, customerReference: "dialled" },
          null
        )
        const dialled = JSON.parse(membership.body ?? "") as { readonly call_id: Id.CallId; readonly joined_at: null }
        expect([membership.status, dialled.joined_at]).toEqual([201, null])
        const [leg] = (yield* calls.find(id, dialled.call_id)).legs
        fake.answers(dialled.call_id, leg?.id as Id.LegId)
        yield* joined(room.id, 3)
        expect((yield* conferences.find(id, room.id)).status).toBe("in_progress")
        yield* until("the call is bridged", () =>
          Effect.map(calls.find(id, dialled.call_id), ({ status }) => status === "bridged")
        )
        yield* conferences.act(caller, room.id, { verb: "mute", body: { legIds: [other.legId] } }, null)
        const muted = { muted: true, includeLeft: false }
        yield* Effect.sleep("50 millis")
        expect((yield* conferences.participants(id, room.id, muted, { limit: 20, offset: 0 })).results).toMatchObject([
          { call_id: other.callId, is_muted: true }
        ])
        yield* conferences.act(caller, room.id, { verb: "end", body: {} }, null)
        yield* settled(room.id)
        for (const callId of [host.callId, other.callId, dialled.call_id])
          expect(yield* calls.find(id, callId)).toMatchObject({ status: "ended", end_reason: "conference_ended" })
        const told = (yield* events(room.id)).map(({ type }) => type.replace("conference.", ""))
        expect(told.filter((type) => type === "member_joined")).toHaveLength(3)
        expect(told.filter((type) => type === "member_left")).toHaveLength(3)
        expect(told.filter((type) => type === "started" || type === "ended")).toEqual(["started", "ended"])
        const all = { includeLeft: true }
        expect((yield* conferences.participants(id, room.id, all, { limit: 2, offset: 0 })).count).toBe(3)
        expect((yield* conferences.find(id, room.id)).participants).toHaveLength(3)
        const again = yield* Effect.flip(conferences.act(caller, room.id, { verb: "end", body: {} }, null))
        expect(again.code).toBe("conference_already_ended")
      })
    )

    it.effect("give a name to one of two that ask at once, and again when it is free", () =>
      Effect.gen(function* () {
        const { caller, conferences, created, settled, talking } = yield* start
        const hosts = yield* Effect.all([talking, talking, talking])
        const asked = yield* Effect.forEach(hosts, ({ callId }) => Effect.result(created("Daily", callId)), {
          concurrency: "unbounded"
        })
        expect(codes(asked).toSorted()).toEqual(["conflict", "conflict", "ok"])
        const [first] = asked.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
        if (first === undefined) return expect.unreachable("one has it")
        yield* conferences.act(caller, first.id, { verb: "end", body: {} }, null)
        yield* settled(first.id)
        const free = hosts.filter(({ callId }) => callId !== first.host_call_id)
        expect((yield* created("Daily", free[0]?.callId as Id.CallId)).status).toBe("init")
      })
    )

    it.effect("give a call to one of three rooms that ask for it at once, as host or as one who joins", () =>
      Effect.gen(function* () {
        const { conferences, created, id, join, joined, settled, talking, until } = yield* start
        for (let round = 0; round < 4; round++) {
          const [host, other] = [yield* talking, yield* talking]
          const room = yield* created(`Open ${round}`, other.callId, { endOnExit: false })
          yield* joined(room.id, 1)
          const results = yield* Effect.all(
            [
              Effect.result(created(`One ${round}`, host.callId)),
              Effect.result(created(`Two ${round}`, host.callId)),
              Effect.result(created(`Three ${round}`, host.callId)),
              Effect.result(Effect.map(join(room.id, host.callId), () => room))
            ],
            { concurrency: "unbounded" }
          )
          expect(codes(results).toSorted()).toEqual(["conflict", "conflict", "conflict", "ok"])
          // The answer holds: the call is in that room, and in no other.
          for (const result of results) {
            if (result._tag === "Failure") continue
            const { id: taken } = result.success
            yield* until("the call is in", () =>
              Effect.map(conferences.find(id, taken), ({ participants }) =>
                participants.some(({ call_id, joined_at }) => call_id === host.callId && joined_at !== null)
              )
            )
          }
          for (const { id: each } of [room, ...results.flatMap((one) => (one._tag === "Success" ? [one.success] : []))])
            yield* Effect.ignore(conferences.endByOperator(each))
          yield* settled(room.id)
        }
      })
    )

    it.effect("never pass the cap, however many come at once, and dial nobody beyond it", () =>
      Effect.gen(function* () {
        const { caller, conferences, created, id, join, joined, talking } = yield* start
        const host = yield* talking
        const room = yield* created("Full", host.callId, { maxParticipants: 4 })
        yield* joined(room.id, 1)
        const others = yield* Effect.all(Array.from({ length: 8 }, () => talking))
        const asked = yield* Effect.forEach(others, ({ callId }) => Effect.result(join(room.id, callId)), {
          concurrency: "unbounded"
        })
        expect(codes(asked).toSorted()).toEqual([...Array(5).fill("conference_full"), ...Array(3).fill("ok")])
        yield* joined(room.id, 4)
        const dialled = yield* Effect.flip(
          conferences.dial(caller, room.id, { ...request, timeoutSecs: 30, customerReference: null }, null)
        )
        expect(dialled.code).toBe("conference_full")
        const below = yield* Effect.flip(
          conferences.act(caller, room.id, { verb: "update", body: { maxParticipants: 3 } }, null)
        )
        expect(below.code).toBe("unprocessable")
        expect(
          (yield* conferences.participants(id, room.id, { includeLeft: false }, { limit: 20, offset: 0 })).count
        ).toBe(4)
      })
    )

    it.effect("hang up at once who is dialled while they end, however the two meet", () =>
      Effect.gen(function* () {
        const { calls, caller, conferences, created, id, joined, settled, talking } = yield* start
        const hosts = yield* Effect.all(Array.from({ length: 30 }, () => talking))
        const rooms = yield* Effect.forEach(hosts, ({ callId }, at) => created(`Late ${at}`, callId))
        for (const room of rooms) yield* joined(room.id, 1)
        const asked = yield* Effect.forEach(
          rooms,
          (room, at) =>
            Effect.map(
              Effect.all(
                [
                  Effect.result(
                    conferences.dial(caller, room.id, { ...request, timeoutSecs: 30, customerReference: null }, null)
                  ),
                  Effect.andThen(Effect.sleep(at), conferences.act(caller, room.id, { verb: "end", body: {} }, null))
                ],
                { concurrency: 2 }
              ),
              ([dialled]) => dialled
            ),
          { concurrency: 3 }
        )
        for (const room of rooms) yield* settled(room.id)
        // Lost messages would be repeated by a deadline.
        const sql = yield* SqlClient.SqlClient
        const ids = rooms.map((room) => room.id)
        expect(
          yield* sql`SELECT input FROM journal WHERE input ->> 'type' = 'deadline' AND ${sql.in("entity_id", ids)}`
        ).toEqual([])
        for (const dialled of asked)
          if (dialled._tag === "Failure") expect(dialled.failure.code).toBe("conference_already_ended")
          else {
            const { call_id } = JSON.parse(dialled.success.body ?? "") as { readonly call_id: Id.CallId }
            const call = yield* calls.find(id, call_id)
            expect([call.status, call.end_reason]).toEqual(["ended", "conference_ended"])
          }
      })
    )

    it.effect("show who speaks, and tell it only where it is wanted", () =>
      Effect.gen(function* () {
        const { conferences, created, events, fake, id, joined, talking, until } = yield* start
        const host = yield* talking
        const room = yield* created("Loud", host.callId)
        yield* joined(room.id, 1)
        const [member] = (yield* conferences.find(id, room.id)).participants
        const memberId = member?.id as Id.MemberId
        const speaking = () =>
          Effect.map(conferences.participant(id, room.id, memberId), ({ is_speaking }) => is_speaking)
        fake.speaks(room.id, memberId, true)
        yield* Effect.sleep("50 millis")
        expect(yield* speaking()).toBe(true)
        fake.speaks(room.id, memberId, false)
        yield* Effect.sleep("50 millis")
        expect(yield* speaking()).toBe(false)
        expect((yield* events(room.id)).filter(({ type }) => type.includes("speaking"))).toEqual([])
        const other = yield* start
        wanting.add(other.id)
        const loud = yield* other.created("Wanted", (yield* other.talking).callId)
        yield* other.joined(loud.id, 1)
        const [speaker] = (yield* conferences.find(other.id, loud.id)).participants
        const said = speaker?.id as Id.MemberId
        // The first word is reported too.
        fake.speaks(loud.id, said, true)
        fake.speaks(loud.id, said, false)
        yield* until("the end is told", () =>
          Effect.map(events(loud.id), (all) => all.at(-1)?.type === "conference.member_speaking_ended")
        )
        expect((yield* events(loud.id)).filter(({ type }) => type.includes("speaking"))).toHaveLength(2)
      })
    )

    it.effect("show what the switch has beside it, and repair nothing by that", () =>
      Effect.gen(function* () {
        const { conferences, created, fake, id, joined, talking } = yield* start
        const host = yield* talking
        const room = yield* created("Drift", host.callId)
        yield* joined(room.id, 1)
        const stranger = yield* talking
        const strange = Id.derive("stranger", "member")
        const [member] = (yield* conferences.find(id, room.id)).participants
        fake.slip(room.id, strange, { ...stranger, isMuted: true, isHeld: false })
        fake.slip(room.id, member?.id as Id.MemberId, null)
        const page = { number: 1, size: 20 }
        expect((yield* conferences.upstream(id, room.id, {}, page)).results).toMatchObject([
          { member_id: null, drift: true, call_id: stranger.callId, muted: true, status: "joined" },
          { member_id: member?.id, drift: true, call_id: host.callId, status: "left" }
        ])
        expect((yield* conferences.upstream(id, room.id, { muted: true }, page)).meta.total_results).toBe(1)
        expect(fake.members(room.id).has(strange)).toBe(true)
      })
    )

    it.effect("agree on who is there when all is quiet, whatever was asked at once", () =>
      Effect.gen(function* () {
        const { calls, caller, conferences, created, events, fake, id, join, joined, settled, talking, until } =
          yield* start
        for (let round = 0; round < 6; round++) {
          const host = yield* talking
          const room = yield* created(`Random ${round}`, host.callId, {
            maxParticipants: 5,
            endOnExit: round % 2 === 0
          })
          yield* joined(room.id, 1)
          const others = yield* Effect.all(Array.from({ length: 6 }, () => talking))
          const legs = [host, ...others]
          let seed = round * 7919 + 13
          const random = (below: number): number => {
            seed = (seed * 48_271) % 2_147_483_647
            return seed % below
          }
          const asks = Array.from({ length: 40 }, () => {
            const who = legs[random(legs.length)] ?? host
            const what = random(12)
            const pause = Effect.sleep(random(30))
            const ask: Effect.Effect<unknown, unknown> =
              what < 5
                ? join(room.id, who.callId)
                : what === 5
                  ? conferences.act(caller, room.id, { verb: "remove_member", member: who.callId }, null)
                  : what === 6
                    ? Effect.sync(() => fake.ended(who.callId, who.legId))
                    : what === 7
                      ? conferences.act(caller, room.id, { verb: "mute", body: { legIds: [who.legId] } }, null)
                      : what === 8
                        ? conferences.act(caller, room.id, { verb: "hold", body: { legIds: [who.legId] } }, null)
                        : what === 9
                          ? conferences.act(caller, room.id, { verb: "unmute", body: { legIds: [who.legId] } }, null)
                          : what === 10
                            ? calls.act(caller, who.callId, { verb: "hangup", body: {} }, null)
                            : conferences.dial(
                                caller,
                                room.id,
                                { ...request, timeoutSecs: 30, customerReference: null },
                                null
                              )
            return Effect.ignore(Effect.andThen(pause, ask))
          })
          yield* Effect.all(asks, { concurrency: 8 })
          const words = Effect.gen(function* () {
            const { participants } = yield* conferences.find(id, room.id)
            const there = participants.filter(({ joined_at, left_at }) => joined_at !== null && left_at === null)
            const inCalls = (yield* Effect.forEach(legs, ({ callId }) => calls.find(id, callId))).filter(
              ({ legs: [leg] }) => leg?.conference_id === room.id
            )
            return { there, inCalls }
          })
          yield* until("all agree", () =>
            Effect.map(
              words,
              ({ inCalls, there }) =>
                fake.isQuiet() &&
                alike(
                  there.map((member) => member.id),
                  [...fake.members(room.id).keys()]
                ) &&
                alike(
                  inCalls.map((call) => call.id),
                  there.map(({ call_id }) => call_id)
                )
            )
          )
          const { participants } = yield* conferences.find(id, room.id)
          expect(participants.filter(({ left_at }) => left_at === null).length).toBeLessThanOrEqual(5)
          yield* Effect.ignore(conferences.act(caller, room.id, { verb: "end", body: {} }, null))
          yield* settled(room.id)
          const told = yield* events(room.id)
          const of = (type: string) =>
            told
              .flatMap((event) => (event.type === type ? [event.member ?? ""] : []))
              .toSorted((a, b) => a.localeCompare(b))
          expect(of("conference.member_left")).toEqual(of("conference.member_joined"))
          expect(new Set(of("conference.member_joined")).size).toBe(of("conference.member_joined").length)
          expect(told.filter(({ type }) => type === "conference.ended")).toHaveLength(1)
        }
      })
    )
  })
})
