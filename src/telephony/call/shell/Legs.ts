import { Effect, FiberSet, Queue } from "effect"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import { type Authority, Carrier, type Snapshot } from "../../../carrier/Carrier.ts"
import * as Id from "../../../domain/Id.ts"
import { type CallId, CommandId, LegId } from "../../../domain/Id.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import type { CallInput } from "../machine/CallInput.ts"
import { type CallState, isTerminal } from "../machine/CallState.ts"
import type { Effects } from "../machine/Draft.ts"
import { holdMs } from "../machine/DueRows.ts"

/**
 * The legs of calls at their carriers: commands go down, and the calls hear what became of their legs when the engine
 * or the carrier was away.
 *
 * For `reconnectMs` a carrier that went away is waited for as if nothing had happened; then its calls are told. When it
 * is back, or another in its place, each of its calls hears what the snapshot says. A leg in the snapshot that no call
 * owns is taken down: its call was given up while the carrier was away.
 */
type Recovered = Extract<CallInput, { readonly type: "recovered" }>

const reconnectMs = 5_000
/** How soon a carrier that is there and does not answer is asked again. */
const retryMs = 1_000

export const make = Effect.fnUntraced(function* (authority: {
  /** Null: the partition of the call is another process's now. */
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

  /** What is known of all legs of these calls, in one question to each carrier. */
  const snapshots = (owner: Authority, states: ReadonlyArray<CallState>) =>
    Effect.map(
      Effect.forEach([...new Set(states.map(({ adapter }) => adapter))], (adapter) =>
        Effect.map(carrier.snapshot(adapter, owner, null), (snapshot) => [adapter, snapshot] as const)
      ),
      (answers): ReadonlyMap<string, Snapshot | null> => new Map(answers)
    )

  /** What is known of the legs of one call; null: its carrier cannot be asked now. */
  const ask = Effect.fnUntraced(function* (state: CallState) {
    const legIds = state.legs.map(({ id }) => id)
    const owner = authority.ofCall(state.id)
    return owner === null ? null : yield* carrier.snapshot(state.adapter, owner, legIds)
  })

  /**
   * Waits until what happened before a deadline has been heard; without a carrier, for as long as one is waited for.
   */
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
        // The same each time: a carrier does it once.
        commandId: CommandId.make(`release of ${legId}`),
        // Nobody's: what is told of a leg that is gone meanwhile finds no call.
        callId: Id.derive(legId, "call"),
        legId,
        origin: null,
        resume: null
      }
    })

  /** Hangs up every leg of a call that cannot commit anything any more. Its rows bill it when they are recovered. */
  const takeDown = (state: CallState): Effect.Effect<void> =>
    Effect.suspend(() => {
      const owner = authority.ofCall(state.id) ?? authority.any()
      return owner === null
        ? Effect.void
        : Effect.forEach(state.legs, ({ id }) => release(state.adapter, owner, id), { discard: true })
    })

  /**
   * Tells the calls of a carrier that it is away or back, for as long as the scope is open. `owned` are the legs of all
   * calls that are not settled; it completes when those that an earlier process left are here.
   */
  const follow = Effect.fnUntraced(function* (
    tellAll: (adapter: string, of: (state: CallState, inTime: (at: number) => number) => Recovered) => void,
    owned: Effect.Effect<ReadonlySet<LegId>>
  ) {
    const changes = yield* Queue.unbounded<readonly [adapter: string, isUp: boolean]>()
    /** Since when each carrier has been away, on the monotonic clock. */
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

/** What a snapshot says of this call; `lostAt` in its time. */
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
