import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import type { CallId, LegId, RouteId } from "../domain/Id.ts"
import type { Admission, InboundOffer, SipTrunk } from "./Admission.ts"
import type { Authority, Order } from "./CarrierCommand.ts"
import type { CarrierEvent, Told } from "./CarrierEvent.ts"
import { LegSounds } from "./LegSounds.ts"
import { RoomSink, type Rooms } from "./room/Rooms.ts"
import type { PeerUpdate } from "./peer/PeerTable.ts"
import { IngressBans } from "./peer/IngressBans.ts"
import { SharedBridges } from "./bridge/SharedBridges.ts"
import { SharedRooms } from "./room/SharedRooms.ts"
import type { Snapshot } from "./Snapshot.ts"
import { TrunkStates } from "./peer/TrunkStates.ts"

export type { Admission, InboundOffer, SipTrunk } from "./Admission.ts"
export type { Authority, CarrierCommand, DialOrigin, Order, RejectCause } from "./CarrierCommand.ts"
export type { CarrierEvent, LegEnd, LegQuality, LegReport, Told } from "./CarrierEvent.ts"
export type { LegFacts, Snapshot } from "./Snapshot.ts"

/**
 * The carrier port: commands go down once, their outcomes come back as events.
 *
 * An adapter knows legs, never calls' rules. It acts on a command without waiting for the network, and reports every
 * outcome through `CarrierSink`. A message that a peer would send again (a 200, a BYE, a final answer) it acknowledges
 * only after the sink has confirmed that the event is committed. All data that crosses the port is plain and has a
 * schema, so that an adapter may live in another process, and outlive this one.
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** One adapter, or all of them with their routes (`Carriers`). */
export interface CarrierAdapter {
  /** Names this life of the adapter. It is unpredictable and chosen at the adapter's start. */
  readonly incarnation: string
  /** The media plane of this process that has its legs; absent when their media are elsewhere. */
  readonly plane?: object
  /**
   * Hands the command over; never waits for the network and never fails, because an outcome is an event. The adapter
   * drops a command of an owner that was replaced, and one that it has taken before.
   */
  readonly interpret: (order: Order) => Effect.Effect<void>
  /**
   * Reports its facts about these legs, or about all its legs when `legIds` is null. The answer is null while it cannot
   * be asked. From then on it obeys no owner older than the one that asks.
   */
  readonly snapshot: (authority: Authority, legIds: ReadonlyArray<LegId> | null) => Effect.Effect<Snapshot | null>
  /**
   * Completes when the sink has acknowledged every event that the leg has reported so far, or the adapter gave it up.
   */
  readonly caughtUp: (legId: LegId) => Effect.Effect<void>
  /** Absent when it has no rooms. */
  readonly rooms?: Rooms
}

/** Called when an adapter comes up or goes down. */
type Watcher = (adapter: string, isUp: boolean) => void

/**
 * Passes the commands of a call to the adapter that its route names.
 *
 * An adapter is registered while it can be reached. A command for one that cannot be reached is dropped: it stays
 * pending in the state of its call, which sends it again when the adapter is back.
 */
export class Carrier extends Context.Service<
  Carrier,
  {
    /** The registration ends when the scope closes, or when another adapter registers under this name. */
    readonly register: (adapter: string, implementation: CarrierAdapter) => Effect.Effect<void, never, Scope.Scope>
    readonly watch: (watcher: Watcher) => Effect.Effect<void, never, Scope.Scope>
    /** Null while the adapter cannot be reached. */
    readonly incarnation: (adapter: string) => string | null
    /**
     * Whether legs of the two adapters can be bridged: the adapters are the same, or their legs share one media plane.
     */
    readonly meet: (adapter: string, other: string) => boolean
    readonly interpret: (adapter: string, order: Order) => Effect.Effect<void>
    /** Null while the adapter cannot be asked. */
    readonly snapshot: (
      adapter: string,
      authority: Authority,
      legIds: ReadonlyArray<LegId> | null
    ) => Effect.Effect<Snapshot | null>
    /** The rooms of an adapter; null when it cannot be reached, or has none. */
    readonly rooms: (adapter: string) => Rooms | null
    /** Waits for the adapter first when it cannot be reached. */
    readonly caughtUp: (adapter: string, legId: LegId) => Effect.Effect<void>
  }
>()("trunkline/carrier/Carrier") {
  static readonly registry = Layer.sync(Carrier, () => {
    const adapters = new Map<string, CarrierAdapter>()
    const watchers = new Set<Watcher>()
    const awaited = new Map<string, Deferred.Deferred<void>>()

    const arrival = (name: string): Deferred.Deferred<void> => {
      const waiting = awaited.get(name) ?? Deferred.makeUnsafe<void>()
      awaited.set(name, waiting)
      return waiting
    }

    const up = (name: string, adapter: CarrierAdapter): void => {
      adapters.set(name, adapter)
      Deferred.doneUnsafe(arrival(name), Effect.void)
      awaited.delete(name)
      for (const watcher of watchers) watcher(name, true)
    }
    const down = (name: string, adapter: CarrierAdapter): void => {
      if (adapters.get(name) !== adapter) return
      adapters.delete(name)
      for (const watcher of watchers) watcher(name, false)
    }

    const caughtUp = (name: string, legId: LegId): Effect.Effect<void> =>
      Effect.suspend(() => {
        const adapter = adapters.get(name)
        return adapter === undefined
          ? Effect.andThen(Deferred.await(arrival(name)), caughtUp(name, legId))
          : adapter.caughtUp(legId)
      })

    return Carrier.of({
      register: (name, adapter) =>
        Effect.acquireRelease(
          Effect.sync(() => up(name, adapter)),
          () => Effect.sync(() => down(name, adapter))
        ),
      watch: (watcher) =>
        Effect.acquireRelease(
          Effect.sync(() => void watchers.add(watcher)),
          () => Effect.sync(() => watchers.delete(watcher))
        ),
      incarnation: (name) => adapters.get(name)?.incarnation ?? null,
      meet: (name, other) => {
        const plane = adapters.get(name)?.plane
        return name === other || (plane !== undefined && plane === adapters.get(other)?.plane)
      },
      interpret: (name, order) =>
        Effect.suspend(
          () =>
            adapters.get(name)?.interpret(order) ??
            Effect.logWarning("a carrier cannot be reached; its command waits in the state of its call").pipe(
              Effect.annotateLogs({ adapter: name, call: order.command.callId, command: order.command.type })
            )
        ),
      snapshot: (name, authority, legIds) =>
        Effect.suspend(() => adapters.get(name)?.snapshot(authority, legIds) ?? Effect.succeed(null)),
      rooms: (name) => adapters.get(name)?.rooms ?? null,
      caughtUp
    })
  })

  /**
   * Includes what carriers share and report to: bridges, rooms, the states of trunks, the sound quality of legs, and
   * their edges towards strangers.
   */
  static readonly layer = Layer.mergeAll(
    Carrier.registry,
    SharedBridges.layer,
    TrunkStates.layer,
    LegSounds.layer,
    IngressBans.layer,
    Layer.provideMerge(SharedRooms.layer, RoomSink.layer)
  )
}

/** Passes the events of every adapter to the calls that own the legs. */
export class CarrierSink extends Context.Service<
  CarrierSink,
  {
    /**
     * Completes when the call's first state is committed (or refused, uncommitted). An offer that is repeated because
     * its answer was lost gets the same answer.
     */
    readonly offer: (offer: InboundOffer) => Effect.Effect<Admission>
    /**
     * Returns the outcome of the event. A leg reports its events one after the other, so `committed` covers all earlier
     * ones. An event whose number is not above the last one is dropped and answered `committed`. A gap in the numbers
     * is an event that the carrier gave up after its repetitions: it cannot be requested, and the events after it
     * count.
     */
    readonly tell: (callId: CallId, event: CarrierEvent) => Effect.Effect<Told>
  }
>()("trunkline/carrier/CarrierSink") {}

/** Applies an update and returns the version that the table has afterwards (`PeerTable.take`). */
export type PeerListener = (update: PeerUpdate) => Effect.Effect<number>

/** Routes as an adapter may see them. The connection feature implements it. */
export class RouteDirectory extends Context.Service<
  RouteDirectory,
  {
    readonly sipTrunk: (routeId: RouteId) => Effect.Effect<SipTrunk | null>
    /** The active trunks after this id, by id, that OPTIONS requests have to check; at most `limit`. */
    readonly qualified: (after: string, limit: number) => Effect.Effect<ReadonlyArray<SipTrunk>>
    /**
     * Pushes the table of known peers (which may send us calls, from any port of their address) and every change of it,
     * one update after the other, until the scope closes.
     */
    readonly knownPeers: (listener: PeerListener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("trunkline/carrier/RouteDirectory") {}
