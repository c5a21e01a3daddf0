import { Effect, FiberSet, Queue } from "effect"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import { type Authority, Carrier } from "../../../carrier/Carrier.ts"
import type { RoomSnapshot } from "../../../carrier/room/Rooms.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import type { ConferenceInput } from "../machine/ConferenceInput.ts"
import type { ConferenceState } from "../machine/ConferenceState.ts"

/** Reports to conferences what happened to their rooms while the engine or the carrier was away. */
type Recovered = Extract<ConferenceInput, { readonly type: "recovered" }>

/** How long a carrier may be away before its conferences are informed. */
const reconnectMs = 5_000
/** The wait before a carrier that is up but does not answer is asked again. */
const retryMs = 1_000

/** The part of a snapshot that concerns this conference; `lostAt` is in the conference's time. */
export const recovered = (state: ConferenceState, snapshot: RoomSnapshot | null, lostAt: number): Recovered => {
  const room = snapshot?.rooms[state.id]
  return {
    type: "recovered",
    snapshot:
      snapshot === null
        ? null
        : { incarnation: snapshot.incarnation, rooms: room === undefined ? {} : { [state.id]: room } },
    lostAt: Math.max(lostAt, state.createdAt)
  }
}

export const follow = Effect.fnUntraced(function* (conferences: {
  readonly any: () => Authority | null
  readonly tellAll: (adapter: string, of: (state: ConferenceState, inTime: (at: number) => number) => Recovered) => void
}) {
  const carrier = yield* Carrier
  const changes = yield* Queue.unbounded<readonly [adapter: string, isUp: boolean]>()
  /** Since when each carrier has been away, by the monotonic clock. */
  const away = new Map<string, number>()
  yield* carrier.watch((adapter, isUp) => void Queue.offerUnsafe(changes, [adapter, isUp]))

  const back: (adapter: string) => Effect.Effect<void> = Effect.fnUntraced(function* (adapter) {
    const owner = conferences.any()
    const rooms = carrier.rooms(adapter)
    if (owner === null || rooms === null) return
    const snapshot = yield* rooms.snapshot(owner, null)
    if (snapshot === null) return yield* Effect.andThen(Effect.sleep(retryMs), back(adapter))
    const lostAt = away.get(adapter) ?? (yield* Monotonic.now)
    away.delete(adapter)
    conferences.tellAll(adapter, (state, inTime) => recovered(state, snapshot, inTime(lostAt)))
  })

  const change = Effect.fnUntraced(function* (adapter: string, isUp: boolean) {
    if (isUp) return yield* back(adapter)
    const now = yield* Monotonic.now
    away.set(adapter, now)
    yield* Effect.sleep(reconnectMs)
    if (carrier.rooms(adapter) === null && away.get(adapter) === now)
      conferences.tellAll(adapter, (state, inTime) => recovered(state, null, inTime(now)))
  })

  const fork = yield* FiberSet.makeRuntime()
  yield* Supervised.fork(
    "the watch over rooms",
    Queue.take(changes).pipe(
      Effect.map(([adapter, isUp]) => void fork(Supervised.keep(`the rooms of ${adapter}`, change(adapter, isUp)))),
      Effect.forever
    )
  )
})
