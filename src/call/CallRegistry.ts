import { Effect, FiberSet, Result } from "effect"
import { Accounts, type Live } from "../account/Account.ts"
import type { Actor, Behavior, Step } from "../actor/Actor.ts"
import * as EntityTime from "../actor/EntityTime.ts"
import * as Registry from "../actor/Registry.ts"
import { Carrier } from "../carrier/Carrier.ts"
import { type CarrierEvent, inTime } from "../carrier/CarrierEvent.ts"
import { Rejected } from "../domain/Rejected.ts"
import type { Rendered } from "../idempotency/Slot.ts"
import { Journal } from "../store/Journal.ts"
import type { CallInput } from "./CallInput.ts"
import * as CallMachine from "./CallMachine.ts"
import { type Asked, commitOf } from "./CallRecord.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as CallView from "./CallView.ts"
import type { Effects } from "./Draft.ts"
import * as Meter from "./Meter.ts"
import * as Salvage from "./Salvage.ts"
import * as Upgrade from "./Upgrade.ts"

/**
 * Live calls: one actor each, found by id, gone when settled. The shell around `CallMachine`: commit, then commands,
 * then the answer. What a call tells its account it tells after the commit, and waits for nothing.
 */
export type CallActor = Actor<CallState, CallInput, Asked, Rendered>

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const carrier = yield* Carrier
  const accounts = yield* Accounts

  const render = (state: CallState, asked: Asked): Rendered => ({ status: asked.status, body: CallView.encode(state) })

  const commit = Effect.fnUntraced(function* (step: Step<CallState, CallInput, Effects>, asked: Asked | null) {
    const { before, effects, state } = step
    const rendered = asked === null ? nobodyAsked : render(state, asked)
    yield* journal.commit(commitOf(step, asked, rendered))
    if (before === null) yield* accounts.began(state.tenantId, state.id)
    yield* Effect.forEach(effects.tells, (told) => accounts.told(state.tenantId, told), { discard: true })
    return rendered
  })

  const interpret = ({ effects, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> =>
    effects.commands.length === 0
      ? Effect.void
      : Effect.forEach(effects.commands, (command) => carrier.interpret(state.adapter, command), { discard: true })

  const presence = Effect.fnUntraced(function* (state: CallState) {
    const leg = primary(state)
    return { [leg.id]: yield* carrier.presence(state.adapter, leg.id) }
  })

  const behavior: Behavior<CallState, CallInput, Effects, Asked, Rendered> = {
    machine: CallMachine.machine,
    commit,
    interpret,
    answer: render,
    reload: (id) =>
      Effect.map(journal.find(id), (row) => (row === null ? null : Result.getOrThrow(Upgrade.state(row)))),
    recovered: (state) => Effect.map(presence(state), (legs) => ({ type: "recovered", legs, lostAt: null })),
    lastWill: (reason) => ({ type: "faulted", reason })
  }
  const registry = yield* Registry.make(
    {
      behavior,
      since: (state) => state.at,
      offsetMs: (state) => state.timeOffsetMs,
      // A call that is not in memory is answered from its row.
      load: null,
      ended: Rejected.of("call_already_ended", "the call has already ended"),
      unknown: Rejected.of("not_found", "no such call"),
      maxLive,
      passivation: null
    },
    Effect.map(journal.unavailableForMs, (ms) => ms > 0)
  )
  for (const partition of journal.partitions()) yield* registry.hold(partition, journal.originMs(partition))
  const fork = yield* FiberSet.makeRuntime()
  yield* journal.onPartitionLost((partition) => void fork(registry.drop(partition)))
  yield* accounts.reserving("call", (row) => {
    const state = Upgrade.state(row)
    return Result.isFailure(state) || isTerminal(state.success)
      ? null
      : reserved(state.success.direction, state.success.meters, state.success.told)
  })

  const recoverPartition = Effect.fnUntraced(function* (partition: number) {
    const rows = yield* journal.unsettled("call", partition)
    if (rows.length === 0) return 0
    const heartbeatAt = journal.lastHeartbeatAt(partition)
    const found = yield* Effect.forEach(rows, (row) => {
      const decoded = Upgrade.state(row)
      return Result.isSuccess(decoded)
        ? Effect.succeed({ id: row.id, state: decoded.success })
        : Effect.as(Effect.logError(`call ${row.id} cannot be read any more: it is ended`, decoded.failure), {
            id: row.id,
            state: Salvage.fromUnreadable(row)
          })
    })
    const recovered = (state: CallState) =>
      Effect.map(presence(state), (legs): CallInput => ({
        type: "recovered",
        legs,
        // In the call's time; what it committed after the heartbeat is a sign of life too.
        lostAt: Math.max(state.at, heartbeatAt === null ? 0 : Math.round(heartbeatAt + state.timeOffsetMs))
      }))
    // Refused when the partition was lost meanwhile: its calls are another process's.
    yield* Effect.ignore(registry.recover(partition, found, recovered))
    return rows.length
  })

  /**
   * Rebuilds every unsettled call and tells it so (src/README.md#recovery); completes when each has committed what
   * follows. A row that cannot be read is salvaged: its call ends cleanly.
   */
  const recover = Effect.suspend(() => Effect.forEach(journal.partitions(), recoverPartition)).pipe(
    Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0))
  )

  const tell = (callId: string, event: CarrierEvent): Effect.Effect<void> =>
    Effect.suspend(() => {
      const actor = registry.live.get(callId)
      if (actor === undefined) return Effect.void
      const told = inTime(event, (at) => EntityTime.ofMonotonic(actor.time, registry.clock, at))
      return actor.tell({ type: "carrier", event: told })
    })

  return { live: registry.live, spawn: registry.spawn, recover, tell, entropy: registry.entropy } as const
})

export type CallRegistry = Effect.Success<typeof make>

/** What a call reserves of its account: the price of its next minute. */
export const reserved = (
  direction: CallState["direction"],
  meters: Parameters<typeof Meter.nextMinuteCents>[0],
  heard = 0
): Live => ({ direction, reservedCents: Meter.nextMinuteCents(meters), heard })

/** About 8 KiB each. */
const maxLive = 100_000

const nobodyAsked: Rendered = { status: 0, body: null }
