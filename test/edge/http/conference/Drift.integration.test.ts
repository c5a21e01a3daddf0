import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { Carrier } from "../../../../src/carrier/Carrier.ts"
import type { MemberFacts, Rooms } from "../../../../src/carrier/room/Rooms.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"
import * as Room from "./RoomOfService.ts"

/** Whether the switch answers when it is asked for the participants of its rooms. */
let isThere = true

/** The participants that the switch has, without the knowledge of its rooms. */
let switched: (members: ReadonlyArray<MemberFacts>) => ReadonlyArray<MemberFacts> = (members) => members

const drifting = (rooms: Rooms): Rooms => ({
  ...rooms,
  snapshot: (authority, ids) =>
    Effect.map(rooms.snapshot(authority, ids), (snapshot) =>
      snapshot === null || !isThere
        ? null
        : {
            ...snapshot,
            rooms: Object.fromEntries(
              Object.entries(snapshot.rooms).map(([id, room]) => [id, { ...room, members: switched(room.members) }])
            )
          }
    )
})

const carriers: typeof Carrier.layer = Layer.effect(
  Carrier,
  Effect.map(Carrier, (carrier) => ({
    ...carrier,
    register: (name, adapter) =>
      carrier.register(name, adapter.rooms === undefined ? adapter : { ...adapter, rooms: drifting(adapter.rooms) })
  }))
).pipe(Layer.provideMerge(Carrier.layer))

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Drifting") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("drift", [0], carriers))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

interface Row {
  readonly member_id: string | null
  readonly call_id: string | null
  readonly leg_id: string | null
  readonly drift: boolean
  readonly status: string
  readonly muted: boolean
}

layer(running, { timeout: "60 seconds", excludeTestServices: true })("The switch and a room that disagree", (it) => {
  it.effect("show it on both sides, one row for each, and nothing repairs itself", () =>
    Effect.gen(function* () {
      const service = yield* Running
      const tenant = yield* Service.tenant(service)
      const room = yield* Room.hosted(service, tenant, 1)
      const [host, guest] = (yield* room.find).participants
      const upstream = Effect.map(room.get("/participants/upstream/"), ({ json }) =>
        (json as { readonly results: ReadonlyArray<Row> }).results.map((row) => [row.member_id, row.drift, row.status])
      )
      expect(yield* upstream).toEqual([
        [host?.id, false, "joined"],
        [guest?.id, false, "joined"]
      ])

      const stranger = { call: Id.derive("stranger", "call"), leg: Id.derive("stranger", "leg") }
      switched = (members) => [
        ...members.filter(({ memberId }) => memberId !== guest?.id),
        ...members.slice(0, 1).map((fact) => ({
          ...fact,
          memberId: Id.derive("stranger", "member"),
          callId: stranger.call,
          legId: stranger.leg,
          isMuted: true
        }))
      ]
      const shown = [
        [host?.id, false, "joined"],
        [null, true, "joined"],
        [guest?.id, true, "left"]
      ]
      expect(yield* upstream).toEqual(shown)
      const { json } = yield* room.get("/participants/upstream/?muted=true")
      expect((json as { readonly results: ReadonlyArray<Row> }).results).toMatchObject([
        { member_id: null, drift: true, call_id: stranger.call, leg_id: stranger.leg, muted: true }
      ])
      // An id of the switch is never shown: here that of a member whom the room does not know.
      expect(JSON.stringify(json)).not.toContain(Id.derive("stranger", "member"))
      const before = yield* room.events
      yield* Effect.sleep("500 millis")
      expect(yield* upstream).toEqual(shown)
      expect(yield* room.events).toEqual(before)
      expect((yield* room.find).participants.map(({ left_at }) => left_at)).toEqual([null, null])

      switched = (members) => members
      expect(yield* upstream).toEqual([
        [host?.id, false, "joined"],
        [guest?.id, false, "joined"]
      ])
      yield* room.end
    })
  )

  it.effect("that cannot be asked is a 502, and what the room itself knows is still shown", () =>
    Effect.gen(function* () {
      const service = yield* Running
      const tenant = yield* Service.tenant(service)
      const room = yield* Room.hosted(service, tenant, 1)
      isThere = false
      const answer = yield* room.get("/participants/upstream/")
      expect([answer.status, TestServer.codeOf(answer)]).toEqual([502, "upstream_error"])
      // A fault of the request takes precedence.
      expect((yield* room.get("/participants/upstream/?page_size=101")).status).toBe(400)
      expect((yield* room.get("/participants/list/")).status).toBe(200)
      expect((yield* room.find).participants.length).toBe(2)
      isThere = true
      expect((yield* room.get("/participants/upstream/")).status).toBe(200)
      yield* room.end
    })
  )
})
