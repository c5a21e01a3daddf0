import { Context, Deferred, Effect, Layer } from "effect"
import type { ConferenceId } from "../../domain/Id.ts"
import type { Authority } from "../CarrierCommand.ts"
import type { Told } from "../CarrierEvent.ts"
import type { RoomOrder } from "./RoomCommand.ts"
import type { RoomEvent, RoomSnapshot } from "./RoomEvent.ts"

export type { RoomCommand, RoomOrder } from "./RoomCommand.ts"
export type { MemberFacts, RoomEvent, RoomReport, RoomSnapshot } from "./RoomEvent.ts"

/** The rooms of an adapter, with the same contract as its legs (`CarrierAdapter`). */
export interface Rooms {
  /** Hands the command over; never waits and never fails, because an outcome is an event. */
  readonly interpret: (order: RoomOrder) => Effect.Effect<void>
  /** Reports its facts about these rooms, or about all its rooms when `ids` is null; null while it cannot be asked. */
  readonly snapshot: (
    authority: Authority,
    ids: ReadonlyArray<ConferenceId> | null
  ) => Effect.Effect<RoomSnapshot | null>
  /** Completes when every event that the room has reported so far is acknowledged, or given up. */
  readonly caughtUp: (id: ConferenceId) => Effect.Effect<void>
}

/** Takes events of a room, in their order and all or none; answers like `CarrierSink.tell`. */
export type RoomListener = (conferenceId: ConferenceId, ...events: ReadonlyArray<RoomEvent>) => Effect.Effect<Told>

/**
 * Passes the events of every adapter's rooms to the conferences that own them. Before there is a listener they wait.
 */
export class RoomSink extends Context.Service<
  RoomSink,
  {
    /** Returns the outcome of the events, as `CarrierSink.tell` does. */
    readonly tell: RoomListener
    /** The conferences are the only listener. */
    readonly listen: (listener: RoomListener) => Effect.Effect<void>
  }
>()("trunkline/carrier/RoomSink") {
  static readonly layer = Layer.sync(RoomSink, () => {
    const listening = Deferred.makeUnsafe<RoomListener>()
    return RoomSink.of({
      tell: (conferenceId, ...events) =>
        Effect.flatMap(Deferred.await(listening), (listener) => listener(conferenceId, ...events)),
      listen: (listener) => Effect.asVoid(Deferred.succeed(listening, listener))
    })
  })
}
