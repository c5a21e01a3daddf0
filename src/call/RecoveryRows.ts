import { type Outcome, unchanged } from "../actor/Machine.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import { end, release } from "./Ending.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * What a rebuilt call does: only idempotent commands are sent again. A dial is not: its leg is found by the identity of
 * its command and taken down, and the call ends, billed to the last sign of life of the process that carried it. Each
 * family of verbs says what becomes of its work; what outlives its leg goes on waiting for its outcome.
 */
export const step = (
  state: CallState,
  input: Extract<CallInput, { readonly type: "recovered" }>,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  if (isTerminal(state)) return again(state, context)
  const leg = primary(state)
  if (input.lostAt === null && input.legs[leg.id] === "alive") return carryOn(state, context)
  const lostAt = Math.min(context.now, input.lostAt ?? context.now)
  return end(
    Draft.from(state),
    { status: state.answeredAt === null ? "failed" : "ended", reason: "carrier_error", initiator: "system" },
    lostAt,
    context,
    { rejectCause: "error" }
  )
}

/** The call had ended; its leg may not have heard of it. */
const again = (state: CallState, context: StepContext): Draft.Draft | Outcome<never, never> => {
  const open = state.pending.filter((pending) => pending.type === "hangup")
  if (open.length === 0) return state.pending.length === 0 ? unchanged : Draft.set(Draft.from(state), { pending: [] })
  return open.reduce<Draft.Draft>(
    (draft, pending) => {
      const leg = state.legs.find((candidate) => candidate.id === pending.legId)
      return leg === undefined ? draft : release(draft, leg, context, pending.rejectCause, pending.commandId)
    },
    Draft.set(Draft.from(state), { pending: [] })
  )
}

/** The leg lives in this process: what was asked of it and may not have reached it is dropped, the call goes on. */
const carryOn = (state: CallState, context: StepContext): Draft.Draft => {
  const leg = primary(state)
  const draft = Draft.from(state)
  const quiet = state.answeredAt === null ? draft : context.work.restarted(draft, leg, context)
  const of = { callId: state.id, legId: leg.id }
  // An adapter answers a leg once, however often it is asked to.
  return state.pending.reduce<Draft.Draft>(
    (draft, pending) =>
      pending.type === "answer" ? Draft.send(draft, { ...of, commandId: pending.commandId, type: "answer" }) : draft,
    quiet
  )
}
