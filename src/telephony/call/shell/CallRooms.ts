import { Effect, FiberSet, Result } from "effect"
import type { Actor } from "../../../runtime/actor/Actor.ts"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import type { CallId } from "../../../domain/Id.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Outage from "../../../runtime/store/Outage.ts"
import type { CallInput } from "../machine/CallInput.ts"
import { type CallState, isTerminal } from "../machine/CallState.ts"
import type { ToCall, ToConference } from "../machine/room/RoomTell.ts"
import * as Upgrade from "../stored/Upgrade.ts"
import * as RoomAnswer from "../machine/room/RoomAnswer.ts"

/** Receives the messages of calls to conferences, each after its commit. It must not wait. */
export type RoomListener = (told: ToConference) => Effect.Effect<void>

type CallActor = Pick<Actor<CallId, CallState, CallInput, never, never>, "state" | "tell">

/**
 * The calls' side of the messages between conferences and calls. A commit's changes are reported after it; a message
 * that changed nothing is answered from the call's committed state; one for a call without an actor is answered from
 * its row. Nothing waits for these, and the conference repeats a message that is lost.
 */
export const make = Effect.fnUntraced(function* (calls: {
  readonly live: (callId: CallId) => CallActor | undefined
  /** Completes once all calls of an earlier process are rebuilt. */
  readonly recovered: Effect.Effect<void>
}) {
  const journal = yield* Journal
  const fork = yield* FiberSet.makeRuntime()
  let listener: RoomListener = () => Effect.void
  /** The messages that a commit has answered. */
  const answered = new WeakSet<ToCall>()

  /** A failure in a message must not fail the call. */
  const lost = (told: ToCall | ToConference) =>
    Effect.annotateLogs({ conference: told.conferenceId, member: told.memberId, tell: told.type })

  const say = (told: ToConference | null): Effect.Effect<void> =>
    told === null
      ? Effect.void
      : Effect.suspend(() => listener(told)).pipe(
          Effect.catchCause((cause) => lost(told)(Effect.logError("a tell to a conference is lost", cause)))
        )

  const tellAbsent = Effect.fnUntraced(function* (callId: CallId, tell: ToCall) {
    const row = yield* Outage.outlasted(journal.find(callId))
    if (row === null || row.kind !== "call") return yield* say(RoomAnswer.ofNobody(callId, tell))
    if (!row.settled) {
      yield* calls.recovered
      if (calls.live(callId) !== undefined) return yield* toActor(callId, tell)
    }
    const state = Upgrade.state(row)
    if (Result.isSuccess(state) ? isTerminal(state.success) : row.settled)
      yield* say(Result.isSuccess(state) ? RoomAnswer.of(state.success, tell) : RoomAnswer.ofNobody(callId, tell))
    // Its actor gave up: a restart recovers it, and the conference repeats the message.
  })

  const toActor = (callId: CallId, tell: ToCall): Effect.Effect<void> =>
    Effect.suspend(() => {
      const actor = calls.live(callId)
      if (actor === undefined) return tellAbsent(callId, tell)
      // The call is about to begin with the membership.
      if (actor.state() === null) return Effect.void
      return Effect.flatMap(actor.tell({ type: "told", tell }), (handled) => {
        const state = actor.state()
        if (handled === "fault" || state === null || answered.has(tell)) return Effect.void
        return handled === "done" ? say(RoomAnswer.of(state, tell)) : tellAbsent(callId, tell)
      })
    })

  return {
    say,
    /** Sends a message of a conference to a call. */
    tell: (callId: CallId, tell: ToCall): Effect.Effect<void> =>
      Effect.sync(() => {
        fork(
          Effect.catchCause(toActor(callId, tell), (cause) =>
            lost(tell)(Effect.logError("a tell to a call is lost; its conference asks again", cause))
          )
        )
      }),
    listen: (to: RoomListener): Effect.Effect<void> =>
      Effect.sync(() => {
        listener = to
      }),
    /** Reports to conferences what a commit changed. */
    committed: ({ before, input, state }: Pick<Step<CallState, CallInput, unknown>, "before" | "input" | "state">) =>
      Effect.suspend(() => {
        if (input.type === "told") answered.add(input.tell)
        return Effect.forEach(RoomAnswer.ofChange(before, state), say, { discard: true })
      })
  } as const
})
