import { Effect, FiberSet, Queue } from "effect"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import { type Authority, Carrier, type Snapshot } from "../../../carrier/Carrier.ts"
import * as Id from "../../../domain/Id.ts"
import { type CallId, CommandId, LegId } from "../../../domain/Id.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import type { CallInput } from "../machine/CallInput.ts"
import { type CallState, isTerminal } from "../machine/CallState.ts"
import type { Effects } from "../machine/StepBuilder.ts"
import { holdMs } from "../machine/OnDeadline.ts"

/**
 * The legs of calls at their carriers: it sends commands down, and reports to the calls what happened to their legs
 * while the engine or the carrier was away.
 *
 * The calls of a carrier that went away are informed only after `reconnectMs`. When it or a replacement is back, each
 * of its calls gets its part of the snapshot. A leg in the snapshot that no call owns is taken down: its call was given
 * up while the carrier was away.
 */
type Recovered = Extract<CallInput, { readonly type: "recovered" }>

const reconnectMs = 5_000
/** The wait before a carrier that is up but does not answer is asked again. */
const retryMs = 1_000

export const make = Effect.fnUntraced(function* (authority: {
  /** Null: the call's partition now belongs to another process. */
  readonly ofCall: (callId: CallId) => Authority | null
  readonly any: () => Authority | null
}) {
  const carrier = yield* Carrier

  const interpret = ({ effects, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> => {
    const owner = effects.commands.length === 0 ? null : authority.ofCall(state.id)
    return owner === null
      ? Effect.void
      : Effect.forEach(effects.commands, (command) => carrier.interpret(state.adapter, { authority: owner, command }), {
          discard: true
        })
  }

  /** Snapshots of all legs of these calls, with one question to each carrier. */
  const snapshots = (owner: Authority, states: ReadonlyArray<CallState>) =>
    Effect.map(
      Effect.forEach([...new Set(states.map(({ adapter }) => adapter))], (adapter) =>
        Effect.map(carrier.snapshot(adapter, owner, null), (snapshot) => [adapter, snapshot] as const)
      ),
      (answers): ReadonlyMap<string, Snapshot | null> => new Map(answers)
    )

  /** A snapshot of the legs of one call; null: its carrier cannot be asked now. */
  const ask = Effect.fnUntraced(function* (state: CallState) {
    const legIds = state.legs.map(({ id }) => id)
    const owner = authority.ofCall(state.id)
    return owner === null ? null : yield* carrier.snapshot(state.adapter, owner, legIds)
  })

  /** Waits until all events before a deadline have been reported; without a carrier, as long as one is waited for. */
  const ready = (state: CallState, due: CallInput): Effect.Effect<void> =>
    isTerminal(state) || (due.type === "deadline" && due.deadline === "lost")
      ? Effect.void
      : Effect.asVoid(
          Effect.timeoutOption(
            Effect.forEach(
              state.legs.filter(({ gone }) => !gone),
              ({ id }) => carrier.caughtUp(state.adapter, id),
              { concurrency: "unbounded", discard: true }
            ),
            holdMs
          )
        )

  const release = (adapter: string, owner: Authority, legId: LegId): Effect.Effect<void> =>
    carrier.interpret(adapter, {
      authority: owner,
      command: {
        type: "hangup",
        // The id is the same each time, so a carrier carries it out once.
        commandId: CommandId.make(`release of ${legId}`),
        // The id belongs to no call, so the events of a leg that is gone meanwhile are dropped.
        callId: Id.derive(legId, "call"),
        legId,
        origin: null,
        resume: null
      }
    })

  /** Hangs up every leg of a call that can no longer commit. Its recovery from its rows bills it. */
  const takeDown = (state: CallState): Effect.Effect<void> =>
    Effect.suspend(() => {
      const owner = authority.ofCall(state.id) ?? authority.any()
      return owner === null
        ? Effect.void
        : Effect.forEach(state.legs, ({ id }) => release(state.adapter, owner, id), { discard: true })
    })

  /**
   * Informs the calls of a carrier that it is away or back, while the scope is open. `owned` are the legs of all
   * unsettled calls; it completes when the calls of an earlier process are rebuilt.
   */
  const follow = Effect.fnUntraced(function* (
    tellAll: (adapter: string, of: (state: CallState, inTime: (at: number) => number) => Recovered) => void,
    owned: Effect.Effect<ReadonlySet<LegId>>
  ) {
    const changes = yield* Queue.unbounded<readonly [adapter: string, isUp: boolean]>()
    /** Since when each carrier has been away, by the monotonic clock. */
    const away = new Map<string, number>()
    yield* carrier.watch((adapter, isUp) => void Queue.offerUnsafe(changes, [adapter, isUp]))

    const back: (adapter: string) => Effect.Effect<void> = Effect.fnUntraced(function* (adapter) {
      const owner = authority.any()
      const snapshot = owner === null ? null : yield* carrier.snapshot(adapter, owner, null)
      if (owner === null || carrier.incarnation(adapter) === null) return
      if (snapshot === null) return yield* Effect.andThen(Effect.sleep(retryMs), back(adapter))
      const lostAt = away.get(adapter) ?? (yield* Monotonic.now)
      away.delete(adapter)
      tellAll(adapter, (state, inTime) => recovered(state, snapshot, inTime(lostAt)))
      const known = yield* owned
      for (const [name, { state }] of Object.entries(snapshot.legs)) {
        const legId = LegId.make(name)
        if (state !== "over" && !known.has(legId)) yield* release(adapter, owner, legId)
      }
    })
    const gone = (adapter: string, since: number): Effect.Effect<void> =>
      Effect.map(Effect.sleep(reconnectMs), () => {
        if (carrier.incarnation(adapter) === null && away.get(adapter) === since)
          tellAll(adapter, (state, inTime) => recovered(state, null, inTime(since)))
      })

    const change = Effect.fnUntraced(function* (adapter: string, isUp: boolean) {
      if (isUp) return yield* back(adapter)
      const now = yield* Monotonic.now
      away.set(adapter, now)
      yield* gone(adapter, now)
    })
    const fork = yield* FiberSet.makeRuntime()
    yield* Supervised.fork(
      "the watch over carriers",
      Queue.take(changes).pipe(
        Effect.map(([adapter, isUp]) => void fork(Supervised.keep(`the change of ${adapter}`, change(adapter, isUp)))),
        Effect.forever
      )
    )
  })

  return { interpret, takeDown, snapshots, ask, ready, follow, incarnation: carrier.incarnation } as const
})

/** The part of a snapshot that concerns this call; `lostAt` is in the call's time. */
export const recovered = (state: CallState, snapshot: Snapshot | null, lostAt: number): Recovered => ({
  type: "recovered",
  snapshot:
    snapshot === null
      ? null
      : {
          incarnation: snapshot.incarnation,
          legs: Object.fromEntries(
            state.legs.flatMap(({ id }) => {
              const facts = snapshot.legs[id]
              return facts === undefined ? [] : [[id, facts]]
            })
          )
        },
  lostAt: Math.max(lostAt, state.initiatedAt)
})
