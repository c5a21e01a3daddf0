import { ApiError } from "../../../../domain/ApiError.ts"
import type { CallId, LegId, RouteId } from "../../../../domain/Id.ts"
import * as OnAction from "../OnAction.ts"
import { type CallState, isTerminal, primary } from "../CallState.ts"

/** The facts about a call's own leg that a conference needs before it gives the call a membership. */
export interface Candidate {
  readonly callId: CallId
  readonly legId: LegId
  /** The carrier of the leg, which must be able to meet that of the room. */
  readonly adapter: string
  readonly routeId: RouteId
  readonly from: string
  readonly to: string
  readonly customerReference: string | null
}

export const of = (state: CallState): Candidate => ({
  callId: state.id,
  legId: primary(state).id,
  adapter: state.adapter,
  routeId: state.routeId,
  from: state.from,
  to: state.to,
  customerReference: state.customerReference
})

/** Why the call cannot enter a conference now, checked before a conference is asked for a membership; null: it can. */
export const refusal = (state: CallState): ApiError | null =>
  isTerminal(state)
    ? OnAction.alreadyEnded
    : state.answeredAt === null
      ? ApiError.of("call_not_in_required_state", `the call is ${state.status}: only an answered one can come in`)
      : state.room !== null
        ? ApiError.of("conflict", "the call is in a conference already")
        : OnAction.busy(state)
