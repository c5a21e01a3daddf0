import { Clock, Effect, Exit, Option } from "effect"
import * as AskTimeout from "../../../../../src/runtime/actor/AskTimeout.ts"
import * as EntityTime from "../../../../../src/runtime/actor/EntityTime.ts"
import type { CallInput } from "../../../../../src/telephony/call/machine/CallInput.ts"
import type { ToCall } from "../../../../../src/telephony/call/machine/room/RoomTell.ts"
import * as WorkPrice from "../../../../../src/domain/WorkPrice.ts"
import * as CallMachine from "../../../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, isTerminal } from "../../../../../src/telephony/call/machine/CallState.ts"
import { lives } from "../../../../../src/telephony/call/machine/leg/Leg.ts"
import * as Legs from "../../../../../src/telephony/call/shell/Legs.ts"
import type { CarrierEvent, Snapshot, Told } from "../../../../../src/carrier/Carrier.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import type * as Random from "../../../../support/Random.ts"
import * as CallActors from "../../CallActors.ts"
import * as Sample from "../../CallSample.ts"
import * as RunningCarrier from "./RunningCarrier.ts"
import * as RunningRows from "./RunningRows.ts"

/**
 * The actors of calls over rows in memory. Commits take time; `faultShare` of them fail before they are written, and as
 * many afterwards. When its scope closes it is dead, and writes nothing more.
 */
export const planted = "planted"

type Membership = Omit<NonNullable<Extract<CallInput, { readonly type: "place" }>["seat"]>, "reservedMinutes">

const prices = { ...WorkPrice.free, conference: 20_000 }

/** Why this event may not have been acknowledged yet, because it is not in the rows; null: it is. */
const unheard = (state: CallState, event: CarrierEvent): string | null => {
  const { legId, n, type } = event
  const leg = state.legs.find(({ id }) => id === legId)
  if (leg === undefined || leg.gone || n <= leg.heard) return null
  if (type === "ended") return "the end of a leg was acknowledged and is not stored"
  if (isTerminal(state) || !lives(leg)) return null
  if (type === "answered" && leg.answeredAt === null) return "an answer was acknowledged and is not stored"
  return type === "media" && event.event.type === "dtmf" && leg.answeredAt !== null
    ? "a digit was acknowledged and is not stored"
    : null
}

export const start = Effect.fnUntraced(function* (
  rows: RunningRows.Rows,
  carrier: RunningCarrier.RunningCarrier,
  random: Random.Random,
  faultShare: number
) {
  const clock = yield* Clock.Clock
  let owns = true
  /** The number of requests that wait for their answer. */
  let waiting = 0
  yield* Effect.addFinalizer(() => Effect.sync(() => (owns = false)))
  const dies = () => random.chance(faultShare)
  const die = (when: string) => Effect.die(new Error(`${planted}, ${when}`))

  const recovered = (state: CallState, snapshot: Snapshot | null) => {
    const now = EntityTime.now(EntityTime.wall, clock)
    return Legs.recovered(state, snapshot, Math.max(state.at, now - 5_000))
  }

  const registry = yield* CallActors.make({
    commit: Effect.fnUntraced(function* (step, _, wanted) {
      yield* Effect.sleep(random.chance(0.03) ? random.below(20_000) : random.below(20))
      if (!owns) return yield* Effect.never
      if (dies()) return yield* die("before it was written")
      if (!wanted()) return yield* AskTimeout.unavailable
      RunningRows.write(rows, step)
      if (dies()) return yield* die("when it was written")
      yield* Effect.sleep(random.below(5))
      return "done" as const
    }),
    interpret: ({ effects }) => Effect.sync(() => effects.commands.forEach(carrier.carry)),
    answer: () => "done",
    reload: (id) => Effect.sync(() => RunningRows.state(rows, id)),
    recovered: (state) => Effect.sync(() => recovered(state, carrier.snapshot())),
    ready: (state, due) =>
      Effect.forEach(state.legs, ({ id }) => carrier.caughtUp(id), { concurrency: "unbounded" }).pipe(
        Effect.timeoutOption("1 minute"),
        Effect.as(due)
      ),
    prepare: (state, input) =>
      input.type === "renewal" || input.type === "told"
        ? Effect.succeed({ first: [], input: { ...input, reservedMinutes: [...state.meters.map(() => 120), 120] } })
        : null
  })

  /** Every answer is true: a success is stored, and a refused request is not. */
  const ask = (callId: Id.CallId, input: CallInput) =>
    Effect.suspend(() => {
      const actor = registry.live.get(callId)
      if (actor === undefined) return Effect.void
      waiting++
      return Effect.onExit(actor.ask(input, null), (exit) =>
        Effect.sync(() => {
          waiting--
          const isStored = rows.inputs.has(input)
          if (Exit.isSuccess(exit) && !isStored) rows.faults.push("a request was answered before it was stored")
          const error = Exit.isFailure(exit) ? Option.getOrNull(Exit.findErrorOption(exit)) : null
          if (error !== null && error.code !== "internal_error" && isStored)
            rows.faults.push(`a request was refused with ${error.code} and is stored`)
        })
      )
    })

  const start = Effect.fnUntraced(function* (
    callId: Id.CallId,
    first: (terms: ReturnType<typeof Sample.terms>) => CallInput
  ) {
    if (registry.live.has(callId)) return
    const actor = yield* registry.spawn(0, callId, Effect.void)
    const { offsetMs: timeOffsetMs } = actor.time
    yield* ask(callId, first(Sample.terms({ callId, timeOffsetMs, reservedMinutes: 120 })))
  })

  return {
    place: (callId: Id.CallId, membership: Membership | null) =>
      start(callId, (terms) =>
        Sample.place({
          terms: { ...terms, prices },
          ...(membership === null ? {} : { seat: { ...membership, reservedMinutes: 120 } })
        })
      ),
    /** A message of a conference to a call. The call's answer is in the rows. */
    tellRoom: (callId: Id.CallId, tell: ToCall) =>
      Effect.suspend(() => {
        const actor = registry.live.get(callId)
        return actor === undefined || actor.state() === null
          ? Effect.void
          : Effect.asVoid(actor.tell({ type: "told", tell }))
      }),
    /** Offers an inbound leg. */
    offer: (callId: Id.CallId, legId: Id.LegId) =>
      start(callId, (terms) => ({ ...Sample.offered(), terms: { ...terms, prices }, legId }) as CallInput),
    ask,
    waiting: () => waiting,
    hear: (callId: Id.CallId, event: CarrierEvent): Effect.Effect<Told> =>
      Effect.suspend(() => {
        const actor = registry.live.get(callId)
        const stored = RunningRows.state(rows, callId)
        if (actor === undefined)
          return Effect.succeed<Told>(stored !== null && CallMachine.isSettled(stored) ? "unknown" : "fault")
        const at = EntityTime.now(actor.time, clock) - (clock.currentTimeMillisUnsafe() - event.at)
        return Effect.map(actor.tell({ type: "carrier", event: { ...event, at } }), (handled): Told => {
          const state = RunningRows.state(rows, callId)
          const fault = handled === "fault" || state === null ? null : unheard(state, event)
          if (fault !== null) rows.faults.push(fault)
          return handled === "fault" ? handled : "committed"
        })
      }).pipe(
        Effect.timeoutOption("30 seconds"),
        Effect.map((told) => Option.getOrElse(told, () => "fault" as const))
      ),
    /** `isThere`: whether the carrier can be asked. */
    recover: (isThere: boolean) =>
      registry.recover(
        0,
        [...rows.calls.values()].flatMap(({ state }) =>
          CallMachine.isSettled(state) ? [] : [{ id: state.id, state }]
        ),
        (state) => Effect.sync(() => recovered(state, isThere ? carrier.snapshot() : null))
      ),
    /** The carrier can be asked again. */
    back: Effect.sync(() => {
      for (const actor of registry.live.values()) {
        const state = actor.state()
        if (state !== null) actor.post(recovered(state, carrier.snapshot()))
      }
    })
  }
})

export type RunningEngine = Effect.Success<ReturnType<typeof start>>
