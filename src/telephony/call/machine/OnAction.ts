import { type Outcome, rejected, unchanged } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import * as CallSetup from "./CallSetup.ts"
import * as Reservation from "./Reservation.ts"
import { end } from "./CallEnding.ts"
import * as EndReason from "./EndReason.ts"
import * as Bridging from "./leg/Bridging.ts"
import * as Connecting from "./leg/Connecting.ts"
import { lives } from "./leg/Leg.ts"
import * as Referral from "./leg/Referral.ts"
import * as Transfer from "./leg/Transfer.ts"
import * as Meter from "./Meter.ts"
import type { CallInput } from "./CallInput.ts"
import type { StepContext } from "./StepContext.ts"
import * as StreamBody from "../verb/StreamBody.ts"
import type { When } from "../verb/CallVerb.ts"
import { table, type ControlAction, isControl } from "../verb/CallVerbs.ts"

type Result = StepBuilder.StepBuilder | Outcome<never, never>
type Asked = Extract<CallInput, { readonly type: "action" }>

/**
 * The API's rows. Any verb on a terminal call is `call_already_ended`; one that the call's status does not allow is
 * `call_not_in_required_state`. A family handles its own verbs; those of call control are handled here.
 */
export const step = (before: CallState, input: Asked, context: StepContext): Result => {
  const { action, reservedMinutes = [] } = input
  const state = Reservation.held(before, reservedMinutes)
  const { work } = context
  const row = work.verbs[action.verb]
  const refused = byState(state, action.verb, row.when)
  if (refused !== null) return rejected(refused)
  if (row.when === "running" && !work.isRunning(state, row))
    return rejected(notPossible(`no ${row.family?.name} is running on this call`))
  if (row.family !== null)
    return work.act(
      StepBuilder.from(state),
      primary(state),
      row,
      action.body,
      context,
      // The reservation for a meter that is added in this step.
      reservedMinutes[state.meters.length] ?? 0
    )
  return isControl(action) ? control(state, action, input, context) : unchanged
}

/** The error when the call's state does not allow the verb; null: it does. */
const byState = (state: CallState, verb: string, when: When): ApiError | null =>
  isTerminal(state)
    ? alreadyEnded
    : isPossible(state, when)
      ? null
      : notPossible(`${verb} is not possible while the call is ${state.status}`)

/** The error when a verb of call control is refused before anything else is asked for it; null: it is not refused. */
export const refusal = (state: CallState, { verb }: ControlAction): ApiError | null =>
  byState(state, verb, table[verb].when) ?? (verb === "transfer" || verb === "bridge" ? busy(state) : null)

export const noLiveLeg = ApiError.of("not_found", "no live leg of yours has this id", "leg_id")

export const alreadyEnded = ApiError.of("call_already_ended", "the call has already ended")

const control = (state: CallState, action: ControlAction, asked: Asked, context: StepContext): Result => {
  const builder = StepBuilder.from(state)
  const leg = primary(state)
  switch (action.verb) {
    case "answer": {
      const commandId = StepBuilder.commandId(context)
      const plan = planOf(state.plan, action.body)
      const { customHeaders = [] } = action.body
      const headers = customHeaders.length === 0 ? {} : { headers: customHeaders }
      const answering = StepBuilder.sendPending(
        StepBuilder.set(builder, {
          plan,
          meters: [
            ...state.meters,
            ...CallSetup.kinds(plan).map((kind, index) =>
              Meter.ofWork(kind, leg, state.prices[kind], asked.reservedMinutes?.[state.meters.length + index] ?? 0)
            )
          ]
        }),
        { type: "answer", commandId, legId: leg.id, since: context.now, ...headers },
        { type: "answer", commandId, callId: state.id, legId: leg.id, tenantId: state.tenantId, ...headers }
      )
      return context.work.starts(answering, leg, "answering", context.now, context)
    }
    case "reject": {
      const { cause } = action.body
      return end(
        builder,
        { status: "failed", reason: cause, initiator: "api", why: "reject_requested" },
        context.now,
        context,
        {
          rejectCause: cause
        }
      )
    }
    case "hangup":
      return end(
        builder,
        EndReason.hungUp(state, "api", "hangup_requested"),
        context.now,
        context,
        isOffered(state) ? { rejectCause: "no_answer" } : {}
      )
    case "transfer":
    case "bridge":
    case "refer": {
      const refused = busy(state)
      return refused === null ? connect(builder, action, asked, context) : rejected(refused)
    }
  }
}

/** The actions that the call begins by itself once it is answered with this body. */
const planOf = (
  plan: CallSetup.CallSetup,
  { streamUrl, ...body }: Extract<ControlAction, { readonly verb: "answer" }>["body"]
): CallSetup.CallSetup => ({
  ...CallSetup.answered(plan, body),
  stream: streamUrl === null ? null : StreamBody.optionsOf(streamUrl, body)
})

const connect = (
  before: StepBuilder.StepBuilder,
  action: Extract<ControlAction, { readonly verb: "transfer" | "bridge" | "refer" }>,
  { peerCallId, reservedMinutes, transfer }: Asked,
  context: StepContext
): Result => {
  const builder = StepBuilder.set(before, { letGo: null })
  switch (action.verb) {
    case "transfer":
      return transfer === undefined
        ? unchanged
        : Transfer.start(builder, action.body, transfer, reservedMinutes?.[builder.state.meters.length] ?? 0, context)
    case "bridge": {
      const { legId } = action.body
      if (peerCallId === undefined) return unchanged
      // About its own legs the call knows more than the lookup that came before.
      return peerCallId === builder.state.id && !builder.state.legs.some((leg) => leg.id === legId && lives(leg))
        ? rejected(noLiveLeg)
        : Bridging.ask(builder, { legId, callId: peerCallId }, "bridge", context)
    }
    case "refer":
      return Referral.start(builder, action.body, context)
  }
}

/** Refuses a second connection with another party while one is being made. */
export const busy = (state: CallState): ApiError | null => {
  const connecting = Connecting.find(state)
  if (connecting !== null) {
    const what = connecting.type === "dial" ? "transfer" : connecting.type === "bridge" ? connecting.by : "refer"
    return ApiError.of("conflict", `a ${what} of this call is under way`)
  }
  if (state.room?.phase === "entering") return ApiError.of("conflict", "this call is just coming into a conference")
  return state.meters.length >= Meter.most
    ? ApiError.of("conflict", "this call has had as many legs and as much paid work as a call may")
    : null
}

const notPossible = (message: string) => ApiError.of("call_not_in_required_state", message)

const isOffered = (state: CallState): boolean => state.direction === "inbound" && state.answeredAt === null

const isPossible = (state: CallState, when: When): boolean => {
  switch (when) {
    case "offered":
      return isOffered(state) && !state.pending.some((pending) => pending.type === "answer")
    case "answered":
      return state.status === "answered"
    case "talking":
    case "running":
      return state.status === "answered" || state.status === "bridged"
    case "live":
      return true
  }
}
