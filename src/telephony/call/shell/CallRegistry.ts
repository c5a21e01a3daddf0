import { Effect } from "effect"
import { Accounts } from "../../../money/account/Account.ts"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import * as AskTimeout from "../../../runtime/actor/AskTimeout.ts"
import type { CarrierEvent, Told } from "../../../carrier/Carrier.ts"
import { inTime } from "../../../carrier/CarrierEvent.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import type { CallId, LegId } from "../../../domain/Id.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"
import { Journal, type StoredOf } from "../../../runtime/store/journal/Journal.ts"
import * as LiveEntities from "../../live/LiveEntities.ts"
import * as Outage from "../../../runtime/store/Outage.ts"
import type { CallInput } from "../machine/CallInput.ts"
import * as CallKeys from "../stored/CallKeys.ts"
import * as CallLog from "./CallLog.ts"
import * as CallMachine from "../machine/CallMachine.ts"
import { type Asked, commitOf } from "../stored/CallRecord.ts"
import { type CallState, isTerminal } from "../machine/CallState.ts"
import * as CallView from "../CallView.ts"
import type { Effects } from "../machine/StepBuilder.ts"
import { lives } from "../machine/leg/Leg.ts"
import * as Legs from "./Legs.ts"
import * as CallMoney from "./CallMoney.ts"
import * as CallRooms from "./CallRooms.ts"
import * as UnreadableCall from "../stored/UnreadableCall.ts"
import * as Upgrade from "../stored/Upgrade.ts"

/**
 * Live calls: one actor each, found by id, removed when settled. This is the shell around `CallMachine`: it commits,
 * then sends the commands, then answers. It informs the account after the commit, and waits for nothing.
 */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const legs = yield* Legs.make({
    ofCall: (callId) => calls.ownerOf(callId),
    any: () => calls.anyOwner()
  })
  const accounts = yield* Accounts
  const keys = yield* CallKeys.make
  const connections = yield* Trunks
  const money = CallMoney.make(accounts, (callId) => calls.hasGivenUp(callId))
  const logged = yield* CallLog.make
  const startedAt = yield* Monotonic.now

  const rooms = yield* CallRooms.make({
    live: (callId) => calls.live.get(callId),
    recovered: Effect.suspend(() => calls.recovered)
  })

  /** The calls of live legs. */
  const byLeg = new Map<LegId, CallId>()

  /** Updates the indexes of a call's legs after its commit. */
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
    const state = callId === undefined ? null : (calls.live.get(callId)?.state() ?? null)
    if (state === null) byLeg.delete(legId)
    return state
  }

  /** Money is checked before the trunk, guide/calls.md#order-of-checks. */
  const prepare = (state: CallState, input: CallInput, now: number) => {
    const prepared = money.prepare(state, input, now)
    if (prepared === null || input.type !== "action" || input.transfer === undefined) return prepared
    const { routeId, tenantId } = state
    const entering = { tenantId, routeId, occupant: input.transfer.legId, direction: "outbound" } as const
    return Effect.tap(prepared, () => Effect.tapError(connections.enter(entering), () => money.held(state)))
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

  /** Restores the indexes of the legs and the trunk places of a recovered call that lives. */
  const resume = (state: CallState) =>
    Effect.gen(function* () {
      if (isTerminal(state) || calls.hasGivenUp(state.id)) return
      yield* connections.resume(state.id, state.routeId)
      for (const leg of state.legs.filter(lives)) {
        byLeg.set(leg.id, state.id)
        if (leg.role === "transfer") yield* connections.resume(leg.id, state.routeId)
      }
    })

  /** Gives back the places of legs at their trunks. */
  const leave = (id: CallId, legs: CallState["legs"]) =>
    Effect.andThen(
      connections.leave(id),
      Effect.forEach(
        legs,
        (leg) => {
          byLeg.delete(leg.id)
          return connections.leave(leg.id)
        },
        { discard: true }
      )
    )

  /** Lets a call that can no longer commit take no place, while its money stays reserved until it is billed. */
  const letGo = (state: CallState) => Effect.andThen(leave(state.id, state.legs), money.held(state))

  const kind: LiveEntities.Kind<CallId, StoredOf<"call">, CallState, CallInput, Effects, Asked, Rendered> = {
    name: "call",
    behavior: {
      machine: CallMachine.machine,
      commit,
      interpret: legs.interpret,
      answer: render,
      recovered: (state) =>
        money.held(state).pipe(
          Effect.andThen(legs.ask(state)),
          Effect.map((snapshot) => Legs.recovered(state, snapshot, calls.nowOf(state)))
        ),
      ready: (state, due) => (due.type === "renewal" ? Effect.succeed(due) : Effect.as(legs.ready(state, due), due)),
      prepare,
      lastWill: (reason) => ({ type: "faulted", reason }),
      abandon: (state) => Effect.andThen(legs.takeDown(state), letGo(state))
    },
    keys,
    unsettled: (partition) => journal.unsettled("call", partition),
    find: (id) => Effect.map(journal.find(id), (row) => (row?.kind === "call" ? row : null)),
    decode: Upgrade.liveState,
    // Rebuilt field by field.
    rebuild: (row) => Effect.map(journal.inputs(row.id), (inputs) => UnreadableCall.rebuild(row, inputs)),
    recovering: Effect.fnUntraced(function* (owner, states, broken) {
      const snapshots = yield* legs.snapshots(owner, states)
      yield* Effect.forEach(states, resume, { discard: true })
      return (state, lostAt) => {
        const snapshot = snapshots.get(state.adapter) ?? null
        // No call continues from a guess: its legs are taken down as if they were lost, and none is dialled again.
        const known = snapshot !== null && broken.has(state.id) ? { ...snapshot, incarnation: "", legs: {} } : snapshot
        return Legs.recovered(state, known, lostAt)
      }
    }),
    left: (gone) => Effect.forEach(gone, (actor) => leave(actor.id, actor.state()?.legs ?? []), { discard: true }),
    ended: ApiError.of("call_already_ended", "the call has already ended"),
    unknown: ApiError.of("not_found", "no such call"),
    maxLive
  }
  const calls = yield* LiveEntities.make(kind)
  yield* accounts.reserving("call", money.reader)

  /**
   * Whether the call of an inbound leg is live; null: there is none yet. Only a leg that was offered before this
   * process started (`at`) can have a call that is not in memory.
   */
  const known = Effect.fnUntraced(function* (callId: CallId, at: number): Effect.fn.Return<boolean | null> {
    if ((calls.live.get(callId)?.state() ?? null) !== null) return true
    if (at >= startedAt || (yield* Outage.outlasted(journal.find(callId))) === null) return null
    yield* calls.recovered
    return calls.live.has(callId)
  })

  const owned = Effect.map(
    calls.recovered,
    (): ReadonlySet<LegId> =>
      new Set([...calls.live.values()].flatMap((actor) => actor.state()?.legs.map(({ id }) => id) ?? []))
  )
  yield* legs.follow(calls.tellAll, owned)

  return {
    live: calls.live,
    spawn: calls.spawn,
    nowOf: calls.nowOf,
    ofLeg,
    recover: calls.recover(journal.recovered),
    known,
    tell: (callId: CallId, event: CarrierEvent): Effect.Effect<Told> =>
      calls.tell(callId, (of) => ({ type: "carrier", event: inTime(event, of) })),
    rooms
  } as const
})

export type CallRegistry = Effect.Success<typeof make>

/** A call takes about 8 KiB. */
const maxLive = 100_000

const nobodyAsked: Rendered = { status: 0, body: null }
