import { Cause, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../money/account/Account.ts"
import * as AskTimeout from "../../../runtime/actor/AskTimeout.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Calls, type ToConference } from "../../call/Call.ts"
import { type Authority, Carrier, type Told } from "../../../carrier/Carrier.ts"
import { inTime } from "../../../carrier/room/RoomEvent.ts"
import type { RoomEvent } from "../../../carrier/room/Rooms.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { CommandId, type ConferenceId, type MemberId } from "../../../domain/Id.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"
import * as EntityKeys from "../../../runtime/store/vault/EntityKeys.ts"
import { Journal, type StoredOf } from "../../../runtime/store/journal/Journal.ts"
import * as LiveEntities from "../../live/LiveEntities.ts"
import * as Outage from "../../../runtime/store/Outage.ts"
import * as OnConferenceAction from "../machine/OnConferenceAction.ts"
import type { ConferenceInput } from "../machine/ConferenceInput.ts"
import * as ClaimedCalls from "./ClaimedCalls.ts"
import { logged } from "./ConferenceLog.ts"
import * as ConferenceMachine from "../machine/ConferenceMachine.ts"
import * as ConferenceMoney from "./ConferenceMoney.ts"
import { type Asked, commitOf, type ConferenceStep } from "../stored/ConferenceRecord.ts"
import * as ConferenceRepo from "../stored/ConferenceRepo.ts"
import type { ConferenceState } from "../machine/ConferenceState.ts"
import * as ConferenceView from "../ConferenceView.ts"
import type { Effects } from "../machine/ConferenceStepBuilder.ts"
import * as ParticipantView from "../ParticipantView.ts"
import * as RoomWatch from "./RoomWatch.ts"
import * as ConferenceSealing from "../stored/ConferenceSealing.ts"
import * as SpeakingEvents from "./SpeakingEvents.ts"
import * as StoredConference from "../stored/StoredConference.ts"

/**
 * Live conferences: one actor each, found by id, removed when settled. This is the shell around `ConferenceMachine`: it
 * commits, then sends the commands to the room and the messages to the calls, then answers. It waits for neither.
 */
export const make = Effect.fnUntraced(function* (options: { readonly wantsSpeaking: SpeakingEvents.Wants }) {
  const journal = yield* Journal
  const sql = yield* SqlClient.SqlClient
  const carrier = yield* Carrier
  const calls = yield* Calls
  const repo = yield* ConferenceRepo.make
  const keys = yield* EntityKeys.make<ConferenceId, ConferenceStep>({
    kind: "conference",
    sealed: ConferenceSealing.sealed,
    isSettled: ConferenceMachine.isSettled
  })
  const speaking = yield* SpeakingEvents.make(options.wantsSpeaking)
  const claims = ClaimedCalls.make((id) => conferences.live.has(id))
  const accounts = yield* Accounts
  const money = ConferenceMoney.make({ accounts, prices: (yield* Billing).prices })
  yield* accounts.reserving("conference", money.reader)

  /** The present, in the conference's own time. */
  const nowOf = (state: ConferenceState): ParticipantView.Now => ({
    at: conferences.nowOf(state),
    isSpeaking: (memberId) => speaking.isSpeaking(state.id, memberId)
  })

  const render = (state: ConferenceState, { member: named, status }: Asked): Rendered => {
    const now = nowOf(state)
    if (named === null) return { status, body: ConferenceView.render(state, now) }
    const member = state.members.findLast(({ callId, id }) => id === named || callId === named)
    return { status, body: member === undefined ? null : ParticipantView.render(state.id, member, now) }
  }

  /** The first commit also claims the name. It has a transaction of its own, because a tenant can cause its refusal. */
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
    claims.follow(before, state)
    yield* logged(step)
    return rendered
  })

  const interpret = ({ effects, state }: ConferenceStep): Effect.Effect<void> =>
    Effect.suspend(() => {
      const owner = effects.commands.length === 0 ? null : conferences.ownerOf(state.id)
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

  /** Closes the room of a conference that can no longer commit, so that none talks in a room that none controls. */
  const closeRoom = ({ adapter, id }: ConferenceState): Effect.Effect<void> =>
    Effect.suspend(() => {
      const owner = conferences.ownerOf(id)
      // The id is the same each time, so a carrier carries it out once.
      const command = { type: "end", commandId: CommandId.make(`end of ${id}`), conferenceId: id } as const
      return owner === null
        ? Effect.void
        : (carrier.rooms(adapter)?.interpret({ authority: owner, command }) ?? Effect.void)
    })

  const snapshot = (state: ConferenceState, owner: Authority | null) =>
    owner === null
      ? Effect.succeed(null)
      : (carrier.rooms(state.adapter)?.snapshot(owner, [state.id]) ?? Effect.succeed(null))

  const kind: LiveEntities.Kind<
    ConferenceId,
    StoredOf<"conference">,
    ConferenceState,
    ConferenceInput,
    Effects,
    Asked,
    Rendered
  > = {
    name: "conference",
    behavior: {
      machine: ConferenceMachine.machine,
      commit,
      interpret,
      answer: render,
      recovered: (state) =>
        money.held(state).pipe(
          Effect.andThen(snapshot(state, conferences.ownerOf(state.id))),
          Effect.map((found): ConferenceInput => ({ type: "recovered", snapshot: found, lostAt: state.at }))
        ),
      ready: (state, due) =>
        Effect.as(
          Effect.timeoutOption(carrier.rooms(state.adapter)?.caughtUp(state.id) ?? Effect.void, "2 seconds"),
          due
        ),
      prepare: money.prepare,
      lastWill: (reason) => ({ type: "faulted", reason }),
      abandon: closeRoom
    },
    keys,
    unsettled: (partition) => journal.unsettled("conference", partition),
    find: (id) => Effect.map(journal.find(id), (row) => (row?.kind === "conference" ? row : null)),
    decode: StoredConference.decode,
    // Rebuilt from the rows of its lists, and faulted at once.
    rebuild: (row) => Effect.map(repo.everyMember(row.id), (members) => StoredConference.rebuild(row, members)),
    recovering: Effect.fnUntraced(function* (owner, states, broken) {
      const snapshots = new Map(
        yield* Effect.forEach([...new Set(states.map(({ adapter }) => adapter))], (adapter) =>
          Effect.map(
            carrier.rooms(adapter)?.snapshot(owner, null) ?? Effect.succeed(null),
            (answer) => [adapter, answer] as const
          )
        )
      )
      for (const state of states) claims.follow(null, state)
      return (state, lostAt) =>
        broken.has(state.id)
          ? { type: "faulted", reason: "its row cannot be read" }
          : RoomWatch.recovered(state, snapshots.get(state.adapter) ?? null, lostAt)
    }),
    left: () =>
      Effect.sync(() => {
        speaking.retain((id) => conferences.live.has(id))
        claims.retain()
      }),
    ended: OnConferenceAction.alreadyEnded,
    unknown: notFound,
    maxLive
  }
  const conferences = yield* LiveEntities.make(kind)

  /**
   * Notifies a call that has taken a membership in a completed conference. Other messages to such a one are dropped.
   */
  const answered = (told: ToConference): Effect.Effect<void> =>
    Effect.suspend(() => {
      const actor = conferences.live.get(told.conferenceId)
      if (actor !== undefined) return Effect.sync(() => actor.post({ type: "told", told }))
      return told.type === "entered" && conferences.isRecovered()
        ? calls.tellRoom(told.callId, {
            type: "over",
            conferenceId: told.conferenceId,
            memberId: told.memberId,
            by: "system"
          })
        : Effect.void
    })

  yield* calls.onRoomAnswer(answered)
  yield* RoomWatch.follow({ any: conferences.anyOwner, tellAll: conferences.tellAll })

  return {
    live: conferences.live,
    claims,
    entropy: conferences.entropy,
    clock: conferences.clock,
    spawn: conferences.spawn,
    nowOf,
    ownerOf: conferences.ownerOf,
    snapshot,
    recover: conferences.recover(() => Effect.void),
    tell: (id: ConferenceId, ...events: ReadonlyArray<RoomEvent>): Effect.Effect<Told> =>
      Effect.suspend(() => {
        let wanted = events
        return conferences.tell(
          id,
          (of) => inputOf(wanted.map((event) => inTime(event, of))),
          (state) =>
            Effect.map(
              Effect.filter(events, (event) =>
                event.type === "member_speaking" ? speaking.heard(state, event) : Effect.succeed(true)
              ),
              (found) => {
                wanted = found
                return found.length > 0
              }
            )
        )
      }),
    speaking: (id: ConferenceId): ReadonlyArray<MemberId> => speaking.of(id)
  } as const
})

const inputOf = (events: ReadonlyArray<RoomEvent>): ConferenceInput => {
  const [event, ...others] = events
  return event !== undefined && others.length === 0 ? { type: "room", event } : { type: "room_events", events }
}

export type ConferenceRegistry = Effect.Success<ReturnType<typeof make>>

/** A conference takes about 8 KiB, and 400 bytes for each member. */
const maxLive = 20_000

export const notFound = ApiError.of("not_found", "no such conference")
const nameTaken = ApiError.of("conflict", "name: another conference that is not completed has it", "name")

const nobodyAsked: Rendered = { status: 0, body: null }
