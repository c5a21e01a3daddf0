import { type Outcome, rejected, type StepContext } from "../actor/Machine.ts"
import { rejection } from "../domain/ErrorCatalogue.ts"
import * as Id from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"
import type { CallAction } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import { end } from "./Ending.ts"

/**
 * Playbacks, and digit strings, that may wait on one call: as many as the media plane keeps in line for a leg. The next
 * one is refused here, where its caller hears of it.
 */
const playbackLimit = 32
const dtmfLimit = 32

const notInState = (state: CallState, action: string) =>
  rejected(rejection("call_not_in_required_state", `${action} is not possible while the call is ${state.status}`))

/**
 * The API's rows, spec §4.4 "Actions": what each verb needs and does. Any of them on a terminal call is
 * `call_already_ended`; a status that does not match is `call_not_in_required_state` (spec §3.1).
 */
export const step = (
  state: CallState,
  action: CallAction,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  if (isTerminal(state)) return rejected(rejection("call_already_ended", "the call has already ended"))
  const draft = Draft.from(state)
  const leg = primary(state)
  const of = (index = 0) => ({ commandId: Draft.commandId(context, index), callId: state.id, legId: leg.id })
  const talking = state.status === "answered" || state.status === "bridged"
  const offered = state.direction === "inbound" && state.answeredAt === null
  const answering = state.pending.some((pending) => pending.type === "answer")

  switch (action.type) {
    case "answer": {
      if (!offered || answering) return notInState(state, "answer")
      const command = of()
      return Draft.sendPending(
        draft,
        { type: "answer", commandId: command.commandId, legId: leg.id, since: context.now },
        { ...command, type: "answer" }
      )
    }
    case "reject":
      if (!offered || answering) return notInState(state, "reject")
      return end(draft, { status: "failed", reason: action.cause, initiator: "api" }, context.now, context, {
        rejectCause: action.cause
      })
    case "hangup":
      return end(
        draft,
        { status: "ended", reason: state.answeredAt === null ? "cancelled" : "normal_clearing", initiator: "api" },
        context.now,
        context,
        offered ? { rejectCause: "no_answer" } : {}
      )
    case "play": {
      if (!talking) return notInState(state, "play")
      if (state.pending.filter((pending) => pending.type === "play").length >= playbackLimit)
        return rejected(rejection("conflict", `${playbackLimit} playbacks are already queued on this call`))
      const command = of()
      const playbackId = Id.deriveOpaque(context.seed, "playback")
      return Draft.sendPending(
        draft,
        { type: "play", commandId: command.commandId, legId: leg.id, playbackId },
        { ...command, type: "media", media: { type: "play", id: playbackId, url: action.url, loop: action.loop } }
      )
    }
    case "stop_playback":
      if (!talking) return notInState(state, "stop_playback")
      return Draft.send(draft, { ...of(), type: "media", media: { type: "stop_playback", which: action.which } })
    case "send_dtmf": {
      if (!talking) return notInState(state, "send_dtmf")
      if (state.pending.filter((pending) => pending.type === "send_dtmf").length >= dtmfLimit)
        return rejected(rejection("conflict", `${dtmfLimit} digit strings already wait to be sent on this call`))
      const command = of()
      return Draft.sendPending(
        draft,
        { type: "send_dtmf", commandId: command.commandId, legId: leg.id },
        {
          ...command,
          type: "media",
          media: {
            type: "send_dtmf",
            id: command.commandId,
            digits: action.digits,
            durationMs: action.durationMs
          }
        }
      )
    }
    case "gather":
      if (!talking) return notInState(state, "gather")
      if (state.gather !== null) return rejected(rejection("conflict", "a gather is already running on this call"))
      return Draft.set(draft, {
        gather: { options: action.options, digits: "", startedAt: context.now, lastDigitAt: null }
      })
    case "stop_gather": {
      const { gather } = state
      if (gather === null) return rejected(rejection("call_not_in_required_state", "no gather is running on this call"))
      return Draft.emit(Draft.set(draft, { gather: null }), {
        type: "call.gather_complete",
        data: {
          ...Draft.ids(state, leg.id),
          digits: gather.digits,
          status: "cancelled",
          completed_at: Timestamp.format(context.now)
        }
      })
    }
  }
}
