import { Clock, Effect, FiberMap, Result } from "effect"
import { Accounts } from "../account/Account.ts"
import * as Actor from "../actor/Actor.ts"
import { Carrier, type CarrierEvent } from "../carrier/Carrier.ts"
import { Rejected } from "../domain/Rejected.ts"
import type { Rendered } from "../idempotency/Slot.ts"
import { Journal } from "../store/Journal.ts"
import type { CallInput } from "./CallInput.ts"
import * as CallMachine from "./CallMachine.ts"
import { type Asked, commitOf } from "./CallRecord.ts"
import { type CallState, decode, isTerminal, primary } from "./CallState.ts"
import * as CallView from "./CallView.ts"
import type { Effects } from "./Draft.ts"
import * as Salvage from "./Salvage.ts"

/**
 * Live calls: one actor each, found by id, gone when settled. The shell around `CallMachine`: commit, then commands,
 * then the answer.
 */
export type CallActor = Actor.Actor<CallState, CallInput, Asked, Rendered>

const alreadyEnded = Rejected.of("call_already_ended", "the call has already ended")

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const carrier = yield* Carrier
  const accounts = yield* Accounts
  const surroundings = yield* Actor.surroundings(Effect.map(journal.unavailableForMs, (ms) => ms > 0))
  const fibers = yield* FiberMap.make<string>()
  const live = new Map<string, CallActor>()

  const render = (state: CallState, asked: Asked): Rendered => ({ status: asked.status, body: CallView.encode(state) })

  const commit = Effect.fnUntraced(function* (step: Actor.Step<CallState, CallInput, Effects>, asked: Asked | null) {
    const rendered = asked === null ? nobodyAsked : render(step.state, asked)
    const { balanceCents } = yield* journal.commit(commitOf(step, asked, rendered))
    if (isTerminal(step.state) && (step.before === null || !isTerminal(step.before)))
      yield* accounts.callEnded(step.state.tenantId, { cents: step.effects.chargeCents, balanceCents })
    return rendered
  })

  const interpret = ({ effects, state }: Actor.Step<CallState, CallInput, Effects>): Effect.Effect<void> =>
    effects.commands.length === 0
      ? Effect.void
      : Effect.forEach(effects.commands, (command) => carrier.interpret(state.adapter, command), { discard: true })

  const presence = Effect.fnUntraced(function* (state: CallState) {
    const leg = primary(state)
    return { [leg.id]: yield* carrier.presence(state.adapter, leg.id) }
  })

  /** `unborn` runs when the actor ends without ever having had a state: its first input was not committed. */
  const spawn = Effect.fnUntraced(function* (id: string, initial: CallState | null, unborn: Effect.Effect<void>) {
    const actor: CallActor = yield* Actor.make<CallState, CallInput, Effects, Asked, Rendered>({
      id,
      initial,
      since: initial?.at ?? 0,
      surroundings,
      ended: alreadyEnded,
      behavior: {
        machine: CallMachine.machine,
        commit,
        interpret,
        answer: render,
        reload: Effect.map(journal.find(id), (row) => (row === null ? null : Result.getOrThrow(decode(row.state)))),
        recovered: (state) => Effect.map(presence(state), (legs) => ({ type: "recovered", legs, lostAt: null })),
        lastWill: (reason) => ({ type: "faulted", reason })
      }
    })
    live.set(id, actor)
    const gone = Effect.suspend(() => {
      live.delete(id)
      return actor.state() === null ? unborn : Effect.void
    })
    yield* FiberMap.run(fibers, id, Effect.ensuring(actor.run, gone))
    return actor
  }, Effect.uninterruptible)

  /**
   * Rebuilds every unsettled call and tells it so (house, "Recovery"); completes when each has committed what follows.
   * A row that cannot be read is salvaged: its call ends cleanly.
   */
  const recover = Effect.gen(function* () {
    const rows = yield* journal.unsettled("call")
    if (rows.length === 0) return 0
    const lostAt = journal.lastHeartbeatAt ?? (yield* Clock.currentTimeMillis)
    yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* (row) {
        const decoded = decode(row.state)
        if (Result.isFailure(decoded))
          yield* Effect.logError(`call ${row.id} cannot be read any more: it is ended`, decoded.failure)
        const state = Result.isSuccess(decoded) ? decoded.success : Salvage.fromUnreadable(row)
        const actor = yield* spawn(row.id, state, Effect.void)
        yield* actor.tell({
          type: "recovered",
          legs: yield* presence(state),
          lostAt: Math.max(lostAt, state.initiatedAt)
        })
      }),
      { concurrency: 256, discard: true }
    )
    return rows.length
  })

  const tell = (callId: string, event: CarrierEvent): Effect.Effect<void> =>
    Effect.suspend(() => live.get(callId)?.tell({ type: "carrier", event }) ?? Effect.void)

  return { live, spawn, recover, tell, entropy: surroundings.entropy } as const
})

export type CallRegistry = Effect.Success<typeof make>

const nobodyAsked: Rendered = { status: 0, body: null }
