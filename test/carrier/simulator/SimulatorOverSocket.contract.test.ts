import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Carrier, type CarrierEvent, CarrierSink, RouteDirectory, type Told } from "../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import { type RoomListener, type RoomOrder, type Rooms, RoomSink } from "../../../src/carrier/room/Rooms.ts"
import type { CallId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import * as Bridge from "../Bridge.ts"
import { Outside } from "../CarrierBench.ts"
import { describeCarrier } from "../CarrierContract.ts"
import { RecordingSink } from "../RecordingSink.ts"
import * as VirtualMedia from "../VirtualMedia.ts"
import * as SimulatedWorld from "./SimulatedWorld.ts"

const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Treats repeated events as a call does: they are acknowledged and change nothing. */
const forgetful = (sink: CarrierSink["Service"]): CarrierSink["Service"] => {
  const heard = new Map<string, number>()
  return {
    offer: sink.offer,
    tell: (callId: CallId, event: CarrierEvent) =>
      Effect.suspend(() => {
        if ((heard.get(event.legId) ?? 0) >= event.n) return Effect.succeed<Told>("committed")
        return Effect.tap(sink.tell(callId, event), (told) =>
          Effect.sync(() => void (told === "committed" && heard.set(event.legId, event.n)))
        )
      })
  }
}

/** The same for conferences. */
const forgetfulOfRooms = (sink: RoomSink["Service"]): RoomListener => {
  const heard = new Map<string, number>()
  return (id, ...events) =>
    Effect.suspend(() => {
      const fresh = events.filter(({ n }) => n > (heard.get(id) ?? 0))
      const last = fresh.at(-1)
      if (last === undefined) return Effect.succeed<Told>("committed")
      return Effect.tap(sink.tell(id, ...fresh), (told) =>
        Effect.sync(() => void (told === "committed" && heard.set(id, last.n)))
      )
    })
}

/** Treats a carrier that comes back as an engine does: all its requests are sent once more. */
const insistent = (carrier: Carrier["Service"]) =>
  Effect.gen(function* () {
    const orders: Array<Effect.Effect<void>> = []
    const run = Effect.runForkWith(yield* Effect.context())
    yield* carrier.watch((_, isUp) => {
      if (isUp) run(Effect.forEach(orders, (order) => order, { discard: true }))
    })
    const insist = (order: Effect.Effect<void>) => {
      orders.push(order)
      return order
    }
    return Carrier.of({
      ...carrier,
      interpret: (name, order) => insist(carrier.interpret(name, order)),
      rooms: (name) => {
        const rooms = carrier.rooms(name)
        const interpret = (order: RoomOrder) =>
          Effect.suspend(() => carrier.rooms(name)?.interpret(order) ?? Effect.void)
        return rooms === null ? null : { ...rooms, interpret: (order) => insist(interpret(order)) }
      }
    })
  })

const noRoutes = RouteDirectory.of({
  qualified: () => Effect.succeed([]),
  sipTrunk: () => Effect.succeed(null),
  knownPeers: () => Effect.void
})

const noRooms: Rooms = {
  interpret: () => Effect.void,
  snapshot: () => Effect.succeed(null),
  caughtUp: () => Effect.void
}

/** The simulator on the other side of a bridge, whose connection is cut every `cutEvery` frames of 20 ms. */
const world = (cutEvery: number) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const half = yield* Bridge.carrierHalf
      const inner = yield* Layer.build(
        SimulatedWorld.layer().pipe(Layer.provide(Layer.succeed(CarrierSink, half.sink)))
      )
      const real = Context.get(inner, Carrier)
      yield* Context.get(inner, RoomSink).listen(half.roomListener)
      half.serve({
        incarnation: real.incarnation("simulator") ?? "",
        interpret: (order) => real.interpret("simulator", order),
        snapshot: (authority, legIds) => real.snapshot("simulator", authority, legIds),
        caughtUp: (legId) => real.caughtUp("simulator", legId),
        rooms: real.rooms("simulator") ?? noRooms
      })
      const above = yield* Layer.build(Carrier.layer)
      const outer = Context.get(above, Carrier)
      const roomSink = Context.get(above, RoomSink)
      const carrier = yield* insistent(outer)
      const engine = yield* Bridge.engineHalf({
        port: half.port,
        adapter: "simulator",
        carrier: outer,
        sink: forgetful(yield* CarrierSink),
        roomListener: forgetfulOfRooms(roomSink),
        directory: noRoutes
      })
      const connected = Effect.gen(function* () {
        while (!engine.isConnected()) yield* turn
      })
      /** Waits until every message under way has arrived, or waits for something else. */
      const quiet = Effect.gen(function* () {
        for (let turns = 0; turns < 4 || (engine.open() + half.open() > 0 && turns < 30); turns++) yield* turn
      })
      yield* connected
      let frames = 0
      const elapse = (ms: number) =>
        Effect.gen(function* () {
          for (let left = ms; left > 0; left -= 20) {
            if (++frames % cutEvery === 0) engine.cut()
            yield* TestClock.adjust(Math.min(20, left))
            yield* connected
            yield* quiet
          }
        })
      const { callIn } = Context.get(inner, Outside)
      return Context.make(Carrier, carrier).pipe(
        Context.add(RoomSink, roomSink),
        Context.add(Outside, { elapse, callIn: (call) => Effect.asVoid(Effect.forkChild(callIn(call))) })
      )
    })
  )

const subject = (cutEvery: number) => ({
  adapter: "simulator",
  routeId: Ids.route("svc_route_simulator"),
  phones: SimulatedWorld.phones,
  hangsUp: { number: "+12025550106", withinMs: 7000 },
  sounds: VirtualMedia.sounds,
  layer: world(cutEvery)
})

describeCarrier("The simulator over a socket", subject(Infinity))
describeCarrier("The simulator over a socket that is cut again and again", subject(7))

describe("The bridge", () => {
  it.effect("asks for routes and hands known peers over the socket, again when it is cut", () =>
    Effect.gen(function* () {
      const trunk = {
        routeId: Ids.route("r"),
        host: "192.0.2.2",
        port: 5060,
        transport: "udp",
        username: null,
        password: null
      } as const
      const half = yield* Bridge.carrierHalf
      half.serve({
        incarnation: "i",
        interpret: () => Effect.void,
        snapshot: () => Effect.succeed(null),
        caughtUp: () => Effect.void
      })
      const peers = PeerTable.make()
      yield* half.directory.knownPeers((update) => Effect.sync(() => peers.take(update)))
      let pushed = 0
      const directory = RouteDirectory.of({
        qualified: () => Effect.succeed([]),
        sipTrunk: () => Effect.suspend(() => (engine.counters.asked === 1 ? Effect.never : Effect.succeed(trunk))),
        knownPeers: (listener) => {
          return Effect.asVoid(Effect.forEach(PeerTable.snapshot(++pushed, ["192.0.2.2"]), listener))
        }
      })
      const engine = yield* Bridge.engineHalf({
        port: half.port,
        adapter: "sip",
        carrier: yield* Carrier,
        sink: yield* CarrierSink,
        roomListener: () => Effect.succeed("committed"),
        directory
      })
      const found = yield* Effect.forkChild(half.directory.sipTrunk(Ids.route("r")))
      while (engine.counters.asked === 0 || !engine.isConnected()) yield* turn
      engine.cut()
      expect(yield* Fiber.join(found)).toStrictEqual(trunk)
      while (peers.version() === 0) yield* turn
      expect(peers.has("192.0.2.2")).toBe(true)
      const before = peers.version()
      engine.cut()
      while (peers.version() === before) yield* turn
    }).pipe(Effect.provide(Layer.merge(Carrier.layer, RecordingSink.layer)))
  )
})
