import { type Outcome, rejected, unchanged } from "../actor/Machine.ts"
import { ApiError } from "../domain/ApiError.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import * as Reservation from "./Reservation.ts"
import { end, hungUp } from "./Ending.ts"
import type { Plan } from "./Plan.ts"
import type { StepContext } from "./StepContext.ts"
import * as StreamBody from "./verb/StreamBody.ts"
import type { When } from "./verb/Verb.ts"
import { type CallAction, type ControlAction, isControl } from "./verb/Verbs.ts"

type Result = Draft.Draft | Outcome<never, never>

/**
 * The API's rows. Any verb on a terminal call is `call_already_ended`; one that the call's status does not allow is
 * `call_not_in_required_state`. Verbs of a family do what their family says; those of call control stand here.
 */
export const step = (
  before: CallState,
  action: CallAction,
  reservedMinutes: ReadonlyArray<number>,
  context: StepContext
): Result => {
  const state = Reservation.held(before, reservedMinutes)
  if (isTerminal(state)) return rejected(alreadyEnded)
  const { work } = context
  const row = work.verbs[action.verb]
  if (row === undefined) return rejected(ApiError.of("unprocessable", `${action.verb} is not built yet`))
  if (!isPossible(state, row.when)) return refused(`${action.verb} is not possible while the call is ${state.status}`)
  if (row.when === "running" && !work.isRunning(state, row))
    return refused(`no ${row.family?.name} is running on this call`)
  if (row.family !== null)
    return work.act(
      Draft.from(state),
      primary(state),
      row,
      action.body,
      context,
      // Of a meter that does not stand there yet.
      reservedMinutes[state.meters.length] ?? 0
    )
  return isControl(action) ? control(state, action, context) : unchanged
}

export const alreadyEnded = ApiError.of("call_already_ended", "the call has already ended")

const control = (state: CallState, action: ControlAction, context: StepContext): Draft.Draft => {
  const draft = Draft.from(state)
  const leg = primary(state)
  switch (action.verb) {
    case "answer": {
      const commandId = Draft.commandId(context)
      const answering = Draft.sendPending(
        Draft.set(draft, { plan: planOf(state.plan, action.body) }),
        { type: "answer", commandId, legId: leg.id, since: context.now },
        { type: "answer", commandId, callId: state.id, legId: leg.id }
      )
      return context.work.begins(answering, leg, "answering", context.now, context)
    }
    case "reject": {
      const { cause } = action.body
      return end(draft, { status: "failed", reason: cause, initiator: "api" }, context.now, context, {
        rejectCause: cause
      })
    }
    case "hangup":
      return end(
        draft,
        hungUp(state, "api"),
        context.now,
        context,
        isOffered(state) ? { rejectCause: "no_answer" } : {}
      )
  }
}

/** What the call does by itself once it is answered in this way. */
const planOf = (
  plan: Plan,
  { streamUrl, ...body }: Extract<ControlAction, { readonly verb: "answer" }>["body"]
): Plan => ({ ...plan, stream: streamUrl === null ? null : StreamBody.optionsOf(streamUrl, body) })

const refused = (message: string) => rejected(ApiError.of("call_not_in_required_state", message))

const isOffered = (state: CallState): boolean => state.direction === "inbound" && state.answeredAt === null

const isPossible = (state: CallState, when: When): boolean => {
  switch (when) {
    case "offered":
      return isOffered(state) && !state.pending.some((pending) => pending.type === "answer")
    case "talking":
    case "running":
      return state.status === "answered" || state.status === "bridged"
    case "live":
      return true
  }
}
