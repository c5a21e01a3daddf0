import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Conferences } from "../../../../src/telephony/conference/Conference.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"
import * as Room from "./RoomOfService.ts"

type Engine = Effect.Success<ReturnType<typeof Service.start>>

/** A tenant in the partition, with a room of three and one ringing participant. */
const meeting = Effect.fnUntraced(function* (engine: Engine, partition: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`ALTER TABLE tenant ALTER COLUMN partition SET DEFAULT ${partition}`)
  const tenant = yield* Service.tenant(engine)
  yield* tenant.paid
  const room = yield* Room.hosted(engine, tenant, 2)
  expect((yield* room.post("/participants/", { from: tenant.number, to: "+12025550102" })).status).toBe(201)
  const { participants } = yield* room.find
  const calls = participants.map(({ call_id }) => call_id)
  const at = (other: Engine, method: string, of: string, body?: unknown) =>
    other.ask(tenant.key, method, `${room.path}${of}`, body)
  return { tenant, room, calls, at }
})

const unavailable = (answer: TestServer.Answer): boolean =>
  answer.status === 503 && TestServer.codeOf(answer) === "service_unavailable"

const until = Effect.fnUntraced(function* (reached: Effect.Effect<boolean>) {
  for (let waited = 0; waited < 1_500; waited++) {
    if (yield* reached) return
    yield* Effect.sleep("20 millis")
  }
  return yield* Effect.die(new Error("it never came to be"))
})

/** The events of an entity in order. Their numbers have no gap and no repetition. */
const told = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string; readonly sequence: number; readonly member: string | null }>`
    SELECT type, sequence::int AS sequence, body::jsonb -> 'data' ->> 'member_id' AS member
    FROM event WHERE entity_id = ${id} ORDER BY sequence`
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1))
  const members = (type: string) =>
    rows.flatMap((row) => (row.type === `conference.${type}` ? [row.member ?? ""] : [])).toSorted()
  return { types: rows.map(({ type }) => type), joined: members("member_joined"), left: members("member_left") }
})

layer(TestDatabase.layer.pipe(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))), {
  timeout: "60 seconds",
  excludeTestServices: true
})("A service that loses a partition with rooms to another process", (it) => {
  it.effect(
    "lets go of them without a word more, and the other ends them with their calls; its other rooms go on",
    () =>
      Effect.gen(function* () {
        const first = yield* Service.start("rooms first", [0, 1])
        const rooms = Context.get(first.context, Conferences)
        const stays = yield* meeting(first, 0)
        const goes = yield* meeting(first, 1)
        expect([yield* rooms.liveCount, yield* first.liveCalls]).toEqual([2, 8])

        const second = yield* Service.start("rooms second", [1])
        const counts = [rooms.liveCount, first.liveCalls, second.liveCalls]
        const completed = Effect.map(
          goes.at(second, "GET", "/"),
          ({ json }) => (json as Room.View).status === "completed"
        )
        yield* until(completed)
        const end = yield* told(goes.room.id)
        expect(end.joined).toHaveLength(3)
        expect(end.left).toEqual(end.joined)
        expect(end.types.filter((type) => type === "conference.ended")).toHaveLength(1)

        // The first process knows of it, or learns of it by this write; it never reports the write as done.
        const refused = yield* goes.at(first, "POST", "/actions/end/", {})
        expect(unavailable(refused) || TestServer.codeOf(refused) === "conference_already_ended", refused.text).toBe(
          true
        )
        expect([yield* rooms.liveCount, yield* first.liveCalls]).toEqual([1, 4])
        expect((yield* goes.at(first, "GET", "/")).json).toMatchObject({ status: "completed" })
        for (const callId of goes.calls) {
          const call = (yield* second.ask(goes.tenant.key, "GET", `/v1/calls/${callId}`)).json as Service.Call
          expect(call).toMatchObject({ end_reason: "carrier_error", end_initiator: "system" })
          expect((yield* told(callId)).types.filter((type) => type === "call.ended")).toHaveLength(1)
        }

        // The phones that are still connected to the first process belong to no call any more, and cause no events.
        expect((yield* stays.room.post("/actions/end/")).status).toBe(200)
        yield* stays.room.until(({ status }) => status === "completed")
        for (const callId of stays.calls)
          yield* stays.tenant.until(callId, ({ end_reason }) => end_reason === "conference_ended")
        const ours = yield* told(stays.room.id)
        expect(ours.left).toEqual(ours.joined)
        expect(yield* told(goes.room.id)).toEqual(end)
        yield* until(Effect.map(Effect.all(counts), (live) => live.every((count) => count === 0)))
      }).pipe(Effect.scoped),
    90_000
  )
})
