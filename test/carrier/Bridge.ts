import { Deferred, Effect, Schema } from "effect"
import {
  Carrier,
  type CarrierAdapter,
  type CarrierEvent as Event,
  CarrierSink,
  type InboundOffer as Offer,
  type PeerListener,
  RouteDirectory
} from "../../src/carrier/Carrier.ts"
import { Admission, InboundOffer, SipTrunk } from "../../src/carrier/Admission.ts"
import { PeerUpdate } from "../../src/carrier/peer/PeerTable.ts"
import { Authority, Order } from "../../src/carrier/CarrierCommand.ts"
import { CarrierEvent, Told } from "../../src/carrier/CarrierEvent.ts"
import { RoomOrder } from "../../src/carrier/room/RoomCommand.ts"
import { RoomEvent, RoomSnapshot } from "../../src/carrier/room/RoomEvent.ts"
import type { RoomListener, Rooms } from "../../src/carrier/room/Rooms.ts"
import { Snapshot } from "../../src/carrier/Snapshot.ts"
import { CallId, ConferenceId, LegId, RouteId } from "../../src/domain/Id.ts"
import * as Wire from "./Wire.ts"

/**
 * The carrier port over a socket, in two halves: the engine's implements the port and talks to the carrier's, which
 * holds the real adapter. Both outlive the connection between them, which may be cut at any time.
 *
 * The carrier's half reports an event until it has an answer, over any number of connections; the engine's half is
 * registered as an adapter while it is connected. All data that crosses is decoded with the schemas of the port.
 */
const Telling = Schema.Struct({ callId: CallId, event: CarrierEvent })
const Asking = Schema.Struct({ authority: Authority, legIds: Schema.NullOr(Schema.Array(LegId)) })
const AskingRooms = Schema.Struct({ authority: Authority, ids: Schema.NullOr(Schema.Array(ConferenceId)) })
const read = Schema.decodeUnknownSync

/** The half that holds the adapter: give `sink` and `directory` to the adapter, then `serve` what it registered. */
export const carrierHalf = Effect.gen(function* () {
  const run = Effect.runForkWith(yield* Effect.context())
  let wire: Wire.Wire | null = null
  let peers: PeerListener = () => Effect.succeed(0)
  let arrival = Deferred.makeUnsafe<void>()
  let served:
    | (Pick<CarrierAdapter, "interpret" | "snapshot" | "caughtUp" | "rooms"> & { readonly incarnation: string })
    | null = null

  const answer: Wire.Answer = (method, body) => {
    if (method === "known_peers") return peers(read(PeerUpdate)(body))
    if (served === null) return Effect.die(new Error("nothing is served yet"))
    switch (method) {
      case "incarnation":
        return Effect.succeed(served.incarnation)
      case "interpret":
        return served.interpret(read(Order)(body))
      case "snapshot": {
        const { authority, legIds } = read(Asking)(body)
        return served.snapshot(authority, legIds)
      }
      case "caught_up":
        return served.caughtUp(read(LegId)(body))
      case "interpret_room":
        return served.rooms?.interpret(read(RoomOrder)(body)) ?? Effect.void
      case "snapshot_rooms": {
        const { authority, ids } = read(AskingRooms)(body)
        return served.rooms?.snapshot(authority, ids) ?? Effect.succeed(null)
      }
      case "room_caught_up":
        return served.rooms?.caughtUp(read(ConferenceId)(body)) ?? Effect.void
      default:
        return Effect.die(new Error(`no method ${method}`))
    }
  }

  const port = yield* Wire.listen((socket) => {
    const own = Wire.over(socket, run, answer, () => {
      if (wire !== own) return
      wire = null
      arrival = Deferred.makeUnsafe()
    })
    wire = own
    Deferred.doneUnsafe(arrival, Effect.void)
  })

  /** Asks until there is an answer. */
  const ask = (method: string, body: unknown): Effect.Effect<unknown> =>
    Effect.suspend(() =>
      wire === null
        ? Effect.andThen(Deferred.await(arrival), ask(method, body))
        : Effect.catch(wire.ask(method, body), () => ask(method, body))
    )

  return {
    port,
    serve: (adapter: typeof served) => void (served = adapter),
    open: () => wire?.open() ?? 0,
    sink: CarrierSink.of({
      offer: (offer: Offer) => Effect.map(ask("offer", offer), read(Admission)),
      // The leg's own fiber waits, whatever happens to the connection.
      tell: (callId: CallId, event: Event) => Effect.map(ask("tell", { callId, event }), read(Told))
    }),
    roomListener: ((conferenceId, ...events) =>
      Effect.map(ask("tell_room", { conferenceId, events }), read(Told))) satisfies RoomListener,
    directory: RouteDirectory.of({
      qualified: () => Effect.succeed([]),
      sipTrunk: (routeId) => Effect.map(ask("sip_trunk", routeId), read(Schema.NullOr(SipTrunk))),
      // Each engine that connects pushes its table.
      knownPeers: (listener) => Effect.sync(() => void (peers = listener))
    })
  }
})

const RoomTelling = Schema.Struct({ conferenceId: ConferenceId, events: Schema.Array(RoomEvent) })

/** The half of the engine: it connects, and again whenever it is cut. */
export const engineHalf = Effect.fnUntraced(function* (options: {
  readonly port: number
  readonly adapter: string
  readonly carrier: Carrier["Service"]
  readonly sink: CarrierSink["Service"]
  readonly roomListener: RoomListener
  readonly directory: RouteDirectory["Service"]
}) {
  const { adapter, carrier, directory, roomListener, sink } = options
  const run = Effect.runForkWith(yield* Effect.context())
  const counters = { connections: 0, asked: 0 }
  let wire: Wire.Wire | null = null

  const answer: Wire.Answer = (method, body) => {
    counters.asked++
    switch (method) {
      case "offer":
        return sink.offer(read(InboundOffer)(body))
      case "tell": {
        const { callId, event } = read(Telling)(body)
        return sink.tell(callId, event)
      }
      case "tell_room": {
        const { conferenceId, events } = read(RoomTelling)(body)
        return roomListener(conferenceId, ...events)
      }
      case "sip_trunk":
        return directory.sipTrunk(read(RouteId)(body))
      default:
        return Effect.die(new Error(`no method ${method}`))
    }
  }

  const roomsBehind = (own: Wire.Wire, gone: Effect.Effect<void>): Rooms => ({
    interpret: (order) => Effect.ignore(own.ask("interpret_room", order)),
    snapshot: (authority, ids) =>
      Effect.match(own.ask("snapshot_rooms", { authority, ids }), {
        onSuccess: read(Schema.NullOr(RoomSnapshot)),
        onFailure: () => null
      }),
    caughtUp: (id) =>
      Effect.catch(Effect.asVoid(own.ask("room_caught_up", id)), () => Effect.andThen(gone, roomsAgain(id)))
  })

  /** Asks again on the next connection. */
  const roomsAgain = (id: ConferenceId): Effect.Effect<void> =>
    Effect.suspend(
      () => carrier.rooms(adapter)?.caughtUp(id) ?? Effect.andThen(Effect.sleep("10 millis"), roomsAgain(id))
    )

  const connected = Effect.gen(function* () {
    const gone = yield* Deferred.make<void>()
    const socket = yield* Wire.dial(options.port)
    const own = Wire.over(socket, run, answer, () => Deferred.doneUnsafe(gone, Effect.void))
    yield* Effect.addFinalizer(() => Effect.sync(own.cut))
    const incarnation = yield* Effect.option(own.ask("incarnation", null))
    if (incarnation._tag === "None") return
    counters.connections++
    wire = own
    yield* carrier.register(adapter, {
      incarnation: read(Schema.String)(incarnation.value),
      // A command that is lost with the connection is still pending above, and sent again.
      interpret: (order) => Effect.ignore(own.ask("interpret", order)),
      snapshot: (authority, legIds) =>
        Effect.match(own.ask("snapshot", { authority, legIds }), {
          onSuccess: read(Schema.NullOr(Snapshot)),
          onFailure: () => null
        }),
      caughtUp: (legId) =>
        Effect.catch(Effect.asVoid(own.ask("caught_up", legId)), () =>
          Effect.andThen(Deferred.await(gone), carrier.caughtUp(adapter, legId))
        ),
      rooms: roomsBehind(own, Deferred.await(gone))
    })
    yield* directory.knownPeers((update) =>
      Effect.match(own.ask("known_peers", update), { onSuccess: read(Schema.Int), onFailure: () => -1 })
    )
    yield* Deferred.await(gone)
  }).pipe(Effect.scoped)

  yield* connected.pipe(Effect.forever, Effect.forkScoped)

  return {
    counters,
    isConnected: () => carrier.incarnation(adapter) !== null,
    open: () => wire?.open() ?? 0,
    cut: () => wire?.cut()
  }
})
