import { Cause, Effect, FiberSet, Latch, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../account/Account.ts"
import type { Handled } from "../actor/Actor.ts"
import * as AskTimeout from "../actor/AskTimeout.ts"
import type { Behavior } from "../actor/Behavior.ts"
import * as EntityTime from "../actor/EntityTime.ts"
import * as Registry from "../actor/Registry.ts"
import { Billing } from "../billing/Billing.ts"
import { Calls, type ToConference } from "../call/Call.ts"
import { type Authority, Carrier, type Told } from "../carrier/Carrier.ts"
import { inTime } from "../carrier/RoomEvent.ts"
import type { RoomEvent } from "../carrier/Rooms.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { ConferenceId, MemberId } from "../domain/Id.ts"
import type { Rendered } from "../idempotency/Slot.ts"
import * as EntityKeys from "../store/EntityKeys.ts"
import { Journal, type StoredOf } from "../store/Journal.ts"
import * as Outage from "../store/Outage.ts"
import * as ActionRows from "./ActionRows.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { logged } from "./ConferenceLog.ts"
import * as ConferenceMachine from "./ConferenceMachine.ts"
import * as ConferenceMoney from "./ConferenceMoney.ts"
import { type Asked, commitOf, type ConferenceStep } from "./ConferenceRecord.ts"
import * as ConferenceRepo from "./ConferenceRepo.ts"
import type { ConferenceState } from "./ConferenceState.ts"
import * as ConferenceView from "./ConferenceView.ts"
import type { Effects } from "./Draft.ts"
import * as ParticipantView from "./ParticipantView.ts"
import * as RoomWatch from "./RoomWatch.ts"
import * as Sealing from "./Sealing.ts"
import * as Speaking from "./Speaking.ts"
import * as StoredConference from "./StoredConference.ts"

/**
 * Live conferences: one actor each, found by id, gone when settled. This is the shell around `ConferenceMachine`: it
 * commits, then commands the room and tells the calls, then answers. It waits for neither.
 */
export const make = Effect.fnUntraced(function* (options: { readonly wantsSpeaking: Speaking.Wants }) {
  const journal = yield* Journal
  const sql = yield* SqlClient.SqlClient
  const carrier = yield* Carrier
  const calls = yield* Calls
  const repo = yield* ConferenceRepo.make
  const keys = yield* EntityKeys.make<ConferenceId, ConferenceStep>({
    kind: "conference",
    sealed: Sealing.sealed,
    isSettled: ConferenceMachine.isSettled
  })
  const speaking = yield* Speaking.make(options.wantsSpeaking)
  const accounts = yield* Accounts
  const money = ConferenceMoney.make({ accounts, prices: (yield* Billing).prices })
  yield* accounts.reserving("conference", money.reader)
  /** Open once all conferences that an earlier process left are here. */
  const recoveredAll = Latch.makeUnsafe(false)

  const authority = (partition: number): Authority | null => {
    const epoch = journal.epoch(partition)
    return epoch === null ? null : { partition, epoch }
  }
  const ownerOf = (id: ConferenceId): Authority | null => {
    const partition = registry.live.get(id)?.place.partition
    return partition === undefined ? null : authority(partition)
  }

  /** In the conference's time. */
  const nowOf = (state: ConferenceState): ParticipantView.Now => {
    const time = registry.live.get(state.id)?.time
    return {
      at: time === undefined ? state.at : Math.max(state.at, EntityTime.now(time, registry.clock)),
      isSpeaking: (memberId) => speaking.isSpeaking(state.id, memberId)
    }
  }

  const render = (state: ConferenceState, { member: named, status }: Asked): Rendered => {
    const now = nowOf(state)
    if (named === null) return { status, body: ConferenceView.render(state, now) }
    const member = state.members.findLast(({ callId, id }) => id === named || callId === named)
    return { status, body: member === undefined ? null : ParticipantView.render(state.id, member, now) }
  }

  /** The first commit takes the name: a transaction of its own, because a tenant can have it refused. */
  const first = Effect.fnUntraced(function* (step: ConferenceStep, commit: ReturnType<typeof commitOf>) {
    const { endpoints } = yield* Effect.gen(function* () {
      if (!(yield* repo.takeName(step.state))) return yield* nameTaken
      return yield* journal.commitWithin(commit)
    }).pipe(
      sql.withTransaction,
      Effect.catchTag("SqlError", (error) => Outage.unavailableOrDie(Cause.die(error))),
      Effect.catchCause((cause) => (Cause.hasDies(cause) ? Outage.unavailableOrDie(cause) : Effect.failCause(cause)))
    )
    yield* journal.wake(endpoints)
  })

  const commit = Effect.fnUntraced(function* (step: ConferenceStep, asked: Asked | null, wanted: () => boolean) {
    const { before, state } = step
    const rendered = asked === null ? nobodyAsked : render(state, asked)
    const sealed = keys.seal(step, commitOf(step, asked, rendered))
    if (before === null) {
      if (!wanted()) return yield* AskTimeout.unavailable
      yield* first(step, sealed.commit)
    } else if ((yield* journal.commitWhile(sealed.commit, wanted, asked !== null)) === null) {
      yield* money.withdrawn(step)
      return yield* AskTimeout.unavailable
    }
    sealed.committed()
    yield* money.stored(step)
    speaking.follow(state)
    yield* logged(step)
    return rendered
  })

  const interpret = ({ effects, state }: ConferenceStep): Effect.Effect<void> =>
    Effect.suspend(() => {
      const owner = effects.commands.length === 0 ? null : ownerOf(state.id)
      const rooms = owner === null ? null : carrier.rooms(state.adapter)
      const commanded =
        owner === null || rooms === null
          ? Effect.void
          : Effect.forEach(effects.commands, (command) => rooms.interpret({ authority: owner, command }), {
              discard: true
            })
      return Effect.andThen(
        commanded,
        Effect.forEach(effects.tells, ({ callId, told }) => calls.tellRoom(callId, told), { discard: true })
      )
    })

  const snapshot = (state: ConferenceState, owner: Authority | null) =>
    owner === null
      ? Effect.succeed(null)
      : (carrier.rooms(state.adapter)?.snapshot(owner, [state.id]) ?? Effect.succeed(null))

  const behavior: Behavior<ConferenceId, ConferenceState, ConferenceInput, Effects, Asked, Rendered> = {
    machine: ConferenceMachine.machine,
    commit,
    interpret,
    answer: render,
    reload: (id) =>
      Effect.map(Outage.outlasted(journal.find(id)), (row) =>
        row === null ? null : Result.getOrThrow(StoredConference.decode(row, keys.opener(id)))
      ),
    recovered: (state) =>
      money.held(state).pipe(
        Effect.andThen(snapshot(state, ownerOf(state.id))),
        Effect.map((found): ConferenceInput => ({ type: "recovered", snapshot: found, lostAt: state.at }))
      ),
    ready: (state, due) =>
      Effect.as(
        Effect.timeoutOption(carrier.rooms(state.adapter)?.caughtUp(state.id) ?? Effect.void, "2 seconds"),
        due
      ),
    prepare: money.prepare,
    lastWill: (reason) => ({ type: "faulted", reason })
  }

  const registry = yield* Registry.make(
    {
      behavior,
      since: (state) => state.at,
      offsetMs: (state) => state.timeOffsetMs,
      // A conference that is not in memory is answered from its row.
      load: null,
      ended: ActionRows.alreadyEnded,
      unknown: notFound,
      maxLive,
      passivation: null
    },
    Effect.map(journal.unavailableForMs, (ms) => ms > 0)
  )
  for (const partition of journal.partitions()) yield* registry.hold(partition, journal.originMs(partition))
  const fork = yield* FiberSet.makeRuntime()
  yield* journal.onPartitionLost((partition) => {
    const forget = Effect.sync(() => {
      keys.retain((id) => registry.live.has(id))
      speaking.retain((id) => registry.live.has(id))
    })
    void fork(Effect.andThen(registry.drop(partition), forget))
  })

  /** One whose row cannot be read any more ends cleanly: from what its lists say, it is told so at once. */
  const readable = (row: StoredOf<"conference">) => {
    const decoded = StoredConference.decode(row, keys.opener(row.id))
    return Result.isSuccess(decoded)
      ? Effect.succeed({ id: row.id, state: decoded.success, isWhole: true })
      : Effect.logError(`conference ${row.id} cannot be read any more: it is ended`, decoded.failure).pipe(
          Effect.andThen(repo.everyMember(row.id)),
          Effect.map((members) => ({ id: row.id, state: StoredConference.rebuild(row, members), isWhole: false }))
        )
  }

  const recoverPartition = Effect.fnUntraced(function* (partition: number) {
    const rows = yield* journal.unsettled("conference", partition)
    if (rows.length === 0) return 0
    yield* keys.load(partition)
    const heartbeatAt = journal.lastHeartbeatAt(partition)
    const found = yield* Effect.forEach(rows, readable)
    const owner = authority(partition)
    if (owner === null) return 0
    const snapshots = new Map(
      yield* Effect.forEach([...new Set(found.map(({ state }) => state.adapter))], (adapter) =>
        Effect.map(
          carrier.rooms(adapter)?.snapshot(owner, null) ?? Effect.succeed(null),
          (answer) => [adapter, answer] as const
        )
      )
    )
    const broken = new Set(found.flatMap(({ id, isWhole }) => (isWhole ? [] : [id])))
    const recovered = (state: ConferenceState) =>
      Effect.succeed<ConferenceInput>(
        broken.has(state.id)
          ? { type: "faulted", reason: "its row cannot be read" }
          : RoomWatch.recovered(
              state,
              snapshots.get(state.adapter) ?? null,
              Math.max(state.at, heartbeatAt === null ? 0 : Math.round(heartbeatAt + state.timeOffsetMs))
            )
      )
    // This fails when the partition was lost meanwhile: its conferences are another process's.
    yield* Effect.ignore(registry.recover(partition, found, recovered))
    return rows.length
  })

  /** Rebuilds every unsettled conference and tells it so. Completes when each has committed what follows. */
  const recover = Effect.forEach(journal.partitions(), recoverPartition).pipe(
    Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0)),
    Effect.tap(() => Latch.open(recoveredAll))
  )

  const tell = (id: ConferenceId, event: RoomEvent): Effect.Effect<Told> =>
    Effect.suspend(() => {
      const actor = registry.live.get(id)
      if (actor === undefined) return tellAbsent(id, event)
      const state = actor.state()
      // In the conference's time.
      const told = inTime(event, (at) => EntityTime.ofMonotonic(actor.time, registry.clock, at))
      const heard = Effect.suspend(() => Effect.map(actor.tell({ type: "room", event: told }), toldOf))
      return event.type === "member_speaking" && state !== null
        ? Effect.flatMap(speaking.heard(state, event), (isWanted) => (isWanted ? heard : Effect.succeed("committed")))
        : heard
    })

  /** A conference that has not ended is absent before it is recovered, and after its actor gave up. */
  const tellAbsent = Effect.fnUntraced(function* (id: ConferenceId, event: RoomEvent): Effect.fn.Return<Told> {
    const row = yield* Outage.outlasted(journal.find(id))
    if (row === null || row.settled) return "unknown"
    if (Latch.isOpen(recoveredAll)) return "fault"
    yield* Latch.await(recoveredAll)
    return yield* tell(id, event)
  })

  /** A call that has taken a seat of a conference that is over is told so; else nobody has to do anything. */
  const answered = (told: ToConference): Effect.Effect<void> =>
    Effect.suspend(() => {
      const actor = registry.live.get(told.conferenceId)
      if (actor !== undefined) return Effect.sync(() => actor.post({ type: "told", told }))
      return told.type === "entered" && Latch.isOpen(recoveredAll)
        ? calls.tellRoom(told.callId, {
            type: "over",
            conferenceId: told.conferenceId,
            memberId: told.memberId,
            by: "system"
          })
        : Effect.void
    })

  yield* calls.onRoomAnswer(answered)
  yield* RoomWatch.follow({
    any: () =>
      journal
        .partitions()
        .map(authority)
        .find((held) => held !== null) ?? null,
    tellAll: (adapter, of) => {
      for (const actor of registry.live.values()) {
        const state = actor.state()
        if (state !== null && state.adapter === adapter)
          actor.post(of(state, (at) => EntityTime.ofMonotonic(actor.time, registry.clock, at)))
      }
    }
  })

  return {
    live: registry.live,
    entropy: registry.entropy,
    clock: registry.clock,
    spawn: registry.spawn,
    nowOf,
    ownerOf,
    snapshot,
    recover,
    tell,
    speaking: (id: ConferenceId): ReadonlyArray<MemberId> => speaking.of(id)
  } as const
})

export type ConferenceRegistry = Effect.Success<ReturnType<typeof make>>

/** About 8 KiB each, and 400 bytes for each member. */
const maxLive = 20_000

export const notFound = ApiError.of("not_found", "no such conference")
const nameTaken = ApiError.of("conflict", "name: another conference that is not completed has it", "name")

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
