import { Effect, FiberSet, Latch, Result } from "effect"
import { Accounts } from "../account/Account.ts"
import type { Handled } from "../actor/Actor.ts"
import type { Behavior, Step } from "../actor/Behavior.ts"
import * as AskTimeout from "../actor/AskTimeout.ts"
import * as EntityTime from "../actor/EntityTime.ts"
import * as Registry from "../actor/Registry.ts"
import type { Authority, CarrierEvent, Told } from "../carrier/Carrier.ts"
import { inTime } from "../carrier/CarrierEvent.ts"
import { Connections } from "../connection/Connection.ts"
import type { CallId, LegId } from "../domain/Id.ts"
import * as Monotonic from "../domain/Monotonic.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { Rendered } from "../idempotency/Slot.ts"
import { Journal } from "../store/Journal.ts"
import * as Outage from "../store/Outage.ts"
import type { CallInput } from "./CallInput.ts"
import * as CallKeys from "./CallKeys.ts"
import * as CallLog from "./CallLog.ts"
import * as CallMachine from "./CallMachine.ts"
import { type Asked, commitOf } from "./CallRecord.ts"
import { type CallState, isTerminal } from "./CallState.ts"
import * as CallView from "./CallView.ts"
import type { Effects } from "./Draft.ts"
import { lives } from "./leg/Leg.ts"
import * as Legs from "./Legs.ts"
import * as CallMoney from "./CallMoney.ts"
import * as CallRooms from "./room/CallRooms.ts"
import * as UnreadableCall from "./UnreadableCall.ts"
import * as Upgrade from "./Upgrade.ts"

/**
 * Live calls: one actor each, found by id, gone when settled. This is the shell around `CallMachine`: it commits, then
 * sends the commands, then answers. It tells the account after the commit, and waits for nothing.
 */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const legs = yield* Legs.make({
    ofCall: (callId) => {
      const partition = registry.live.get(callId)?.place.partition
      return partition === undefined ? null : authority(partition)
    },
    any: () =>
      journal
        .partitions()
        .map(authority)
        .find((held) => held !== null) ?? null
  })
  const accounts = yield* Accounts
  const keys = yield* CallKeys.make
  const connections = yield* Connections
  const money = CallMoney.make(accounts)
  const logged = yield* CallLog.make
  const startedAt = yield* Monotonic.now
  /** Open once all calls that an earlier process left are here. */
  const recoveredAll = Latch.makeUnsafe(false)

  const rooms = yield* CallRooms.make({
    live: (callId) => registry.live.get(callId),
    recovered: Latch.await(recoveredAll)
  })

  /** The calls of the legs that live. */
  const byLeg = new Map<LegId, CallId>()

  /** What others know of the legs of a call follows its commits. */
  const follow = ({ before, state }: Pick<Step<CallState, CallInput, Effects>, "before" | "state">) =>
    Effect.suspend(() => {
      if (before?.legs === state.legs) return Effect.void
      const over = state.legs.filter((leg) => !lives(leg))
      for (const leg of state.legs) if (lives(leg)) byLeg.set(leg.id, state.id)
      for (const { id } of over) byLeg.delete(id)
      const left = over.filter(({ id }) => before?.legs.some((leg) => leg.id === id && lives(leg)) === true)
      return Effect.andThen(
        Effect.forEach(left, ({ id }) => connections.leave(id), { discard: true }),
        isTerminal(state) ? connections.leave(state.id) : Effect.void
      )
    })

  const ofLeg = (legId: LegId): CallState | null => {
    const callId = byLeg.get(legId)
    const state = callId === undefined ? null : (registry.live.get(callId)?.state() ?? null)
    if (state === null) byLeg.delete(legId)
    return state
  }

  /** Money comes before the trunk, guide/calls.md#order-of-checks. */
  const prepare = (state: CallState, input: CallInput, now: number) => {
    const prepared = money.prepare(state, input, now)
    if (prepared === null || input.type !== "action" || input.transfer === undefined) return prepared
    const { routeId, tenantId } = state
    const entering = { tenantId, routeId, occupant: input.transfer.legId, direction: "outbound" } as const
    return Effect.tap(prepared, () => Effect.tapError(connections.enter(entering), () => money.held(state)))
  }

  const authority = (partition: number): Authority | null => {
    const epoch = journal.epoch(partition)
    return epoch === null ? null : { partition, epoch }
  }

  const render = (state: CallState, { body, recordings, status }: Asked): Rendered => ({
    status,
    body: body?.() ?? CallView.render(state, recordings)
  })

  const commit = Effect.fnUntraced(function* (
    step: Step<CallState, CallInput, Effects>,
    asked: Asked | null,
    wanted: () => boolean
  ) {
    const { effects, state } = step
    const rendered = asked === null ? nobodyAsked : render(state, asked)
    const sealed = keys.seal(step, commitOf(step, asked, rendered))
    if ((yield* journal.commitWhile(sealed.commit, wanted, asked !== null)) === null) {
      yield* money.withdrawn(step)
      return yield* AskTimeout.unavailable
    }
    sealed.committed()
    yield* money.stored(step)
    yield* logged(step)
    yield* follow(step)
    yield* Effect.forEach(effects.tells, (told) => accounts.told(state.tenantId, told), { discard: true })
    yield* rooms.committed(step)
    return rendered
  })

  /** In the call's time. */
  const nowOf = (state: CallState): number => {
    const time = registry.live.get(state.id)?.time
    return time === undefined ? state.at : EntityTime.now(time, registry.clock)
  }

  const behavior: Behavior<CallId, CallState, CallInput, Effects, Asked, Rendered> = {
    machine: CallMachine.machine,
    commit,
    interpret: legs.interpret,
    answer: render,
    reload: (id) =>
      Effect.map(Outage.outlasted(journal.find(id)), (row) =>
        row === null ? null : Result.getOrThrow(Upgrade.liveState(row, keys.opener(id)))
      ),
    recovered: (state) =>
      money.held(state).pipe(
        Effect.andThen(legs.ask(state)),
        Effect.map((snapshot) => Legs.recovered(state, snapshot, nowOf(state)))
      ),
    ready: (state, due) => (due.type === "renewal" ? Effect.succeed(due) : Effect.as(legs.ready(state, due), due)),
    prepare,
    lastWill: (reason) => ({ type: "faulted", reason }),
    abandon: legs.takeDown
  }
  const registry = yield* Registry.make(
    {
      behavior,
      since: (state) => state.at,
      offsetMs: (state) => state.timeOffsetMs,
      // A call that is not in memory is answered from its row.
      load: null,
      ended: ApiError.of("call_already_ended", "the call has already ended"),
      unknown: ApiError.of("not_found", "no such call"),
      maxLive,
      passivation: null
    },
    Effect.map(journal.unavailableForMs, (ms) => ms > 0)
  )
  for (const partition of journal.partitions()) yield* registry.hold(partition, journal.originMs(partition))
  const fork = yield* FiberSet.makeRuntime()
  yield* journal.onPartitionLost((partition) => {
    // Its calls are another process's from now on.
    const gone = [...registry.live.values()].filter(({ place }) => place.partition === partition)
    const left = Effect.forEach(
      gone,
      (actor) =>
        Effect.andThen(
          connections.leave(actor.id),
          Effect.forEach(actor.state()?.legs ?? [], ({ id }) => {
            byLeg.delete(id)
            return connections.leave(id)
          })
        ),
      { discard: true }
    )
    const forget = Effect.sync(() => keys.retain((callId) => registry.live.has(callId)))
    void fork(Effect.andThen(registry.drop(partition), Effect.andThen(left, forget)))
  })
  yield* accounts.reserving("call", money.reader)

  const recoverPartition = Effect.fnUntraced(function* (partition: number) {
    const rows = yield* journal.unsettled("call", partition)
    if (rows.length === 0) return 0
    yield* keys.load(partition)
    const heartbeatAt = journal.lastHeartbeatAt(partition)
    const found = yield* Effect.forEach(rows, (row) => {
      const decoded = Upgrade.liveState(row, keys.opener(row.id))
      return Result.isSuccess(decoded)
        ? Effect.succeed({ id: row.id, state: decoded.success, isWhole: true })
        : Effect.logError(`call ${row.id} cannot be read any more: it is ended`, decoded.failure).pipe(
            Effect.andThen(journal.inputs(row.id)),
            Effect.map((inputs) => ({ id: row.id, state: UnreadableCall.rebuild(row, inputs), isWhole: false }))
          )
    })
    const owner = authority(partition)
    if (owner === null) return 0
    const snapshots = yield* legs.snapshots(
      owner,
      found.map(({ state }) => state)
    )
    const rebuilt = new Set(found.flatMap(({ id, isWhole }) => (isWhole ? [] : [id])))
    const recovered = (state: CallState) => {
      const snapshot = snapshots.get(state.adapter) ?? null
      return Effect.succeed(
        Legs.recovered(
          state,
          // No call goes on with a guess: its legs are taken down as if they were lost.
          snapshot !== null && rebuilt.has(state.id) ? { ...snapshot, legs: {} } : snapshot,
          // In the call's time. What the call committed after the heartbeat is a sign of life too.
          Math.max(state.at, heartbeatAt === null ? 0 : Math.round(heartbeatAt + state.timeOffsetMs))
        )
      )
    }
    for (const { id, state } of found) {
      if (isTerminal(state)) continue
      yield* connections.resume(id, state.routeId)
      for (const leg of state.legs.filter(lives)) {
        byLeg.set(leg.id, id)
        if (leg.role === "transfer") yield* connections.resume(leg.id, state.routeId)
      }
    }
    // This fails when the partition was lost meanwhile: its calls are another process's.
    yield* Effect.ignore(registry.recover(partition, found, recovered))
    return rows.length
  })

  /**
   * Rebuilds every unsettled call and tells it so (src/README.md#recovery). Completes when each has committed what
   * follows. A row that cannot be read is rebuilt field by field (`UnreadableCall`), and its call ends cleanly.
   */
  const recover = Effect.suspend(() =>
    Effect.forEach(journal.partitions(), (partition) =>
      Effect.tap(recoverPartition(partition), () => journal.recovered(partition))
    )
  ).pipe(
    Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0)),
    Effect.tap(() => Latch.open(recoveredAll))
  )

  const tell = (callId: CallId, event: CarrierEvent): Effect.Effect<Told> =>
    Effect.suspend(() => {
      const actor = registry.live.get(callId)
      if (actor === undefined) return tellAbsent(callId, event)
      // In the call's time.
      const told = inTime(event, (at) => EntityTime.ofMonotonic(actor.time, registry.clock, at))
      return Effect.map(actor.tell({ type: "carrier", event: told }), toldOf)
    })

  /**
   * Whether the call of an inbound leg lives; null: there is none yet. Only a leg that was offered `at` a time before
   * this process may have one that is not in memory.
   */
  const known = Effect.fnUntraced(function* (callId: CallId, at: number): Effect.fn.Return<boolean | null> {
    if ((registry.live.get(callId)?.state() ?? null) !== null) return true
    if (at >= startedAt || (yield* Outage.outlasted(journal.find(callId))) === null) return null
    yield* Latch.await(recoveredAll)
    return registry.live.has(callId)
  })

  /** A call that has not ended is absent before it is recovered, and after its actor gave up. */
  const tellAbsent = Effect.fnUntraced(function* (callId: CallId, event: CarrierEvent): Effect.fn.Return<Told> {
    const row = yield* Outage.outlasted(journal.find(callId))
    if (row === null || row.settled) return "unknown"
    if (Latch.isOpen(recoveredAll)) return "fault"
    yield* Latch.await(recoveredAll)
    return yield* tell(callId, event)
  })

  const owned = Effect.map(
    Latch.await(recoveredAll),
    (): ReadonlySet<LegId> =>
      new Set([...registry.live.values()].flatMap((actor) => actor.state()?.legs.map(({ id }) => id) ?? []))
  )
  yield* legs.follow((adapter, of) => {
    for (const actor of registry.live.values()) {
      const state = actor.state()
      if (state !== null && state.adapter === adapter)
        actor.post(of(state, (at) => EntityTime.ofMonotonic(actor.time, registry.clock, at)))
    }
  }, owned)

  return { live: registry.live, spawn: registry.spawn, nowOf, ofLeg, recover, known, tell, rooms } as const
})

export type CallRegistry = Effect.Success<typeof make>

/** About 8 KiB each. */
const maxLive = 100_000

const toldOf = (handled: Handled): Told => {
  switch (handled) {
    case "done":
      return "committed"
    case "ended":
      return "unknown"
    case "fault":
      return "fault"
  }
}

const nobodyAsked: Rendered = { status: 0, body: null }
