import type { Told } from "../../../money/account/Account.ts"
import type { StepContext } from "../../../runtime/actor/Machine.ts"
import type { CarrierCommand } from "../../../carrier/Carrier.ts"
import * as Id from "../../../domain/Id.ts"
import type { EmittedByCall } from "../../../domain/event/EventCatalogue.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { CallState } from "./CallState.ts"
import type { Leg } from "./leg/Leg.ts"
import type { Pending } from "./leg/Pending.ts"
import type { Charge } from "./Meter.ts"

/** A step under construction: the next state and its effects, in order. Immutable: each function returns a new one. */
export interface Draft {
  readonly state: CallState
  readonly events: ReadonlyArray<EmittedByCall>
  readonly commands: ReadonlyArray<CarrierCommand>
  /** Rows of other lists than the call's own, written with this commit. */
  readonly rows: ReadonlyArray<ListWrite>
  /** Debited with this commit. */
  readonly charges: ReadonlyArray<Charge>
  /** Messages to the account, sent after the commit. */
  readonly tells: ReadonlyArray<Told>
}

export type Effects = Omit<Draft, "state">

export const from = (state: CallState): Draft => ({
  state,
  events: [],
  commands: [],
  rows: [],
  charges: [],
  tells: []
})

export const set = (draft: Draft, fields: Partial<CallState>): Draft => ({
  ...draft,
  state: { ...draft.state, ...fields }
})

export const emit = (draft: Draft, ...events: ReadonlyArray<EmittedByCall>): Draft => ({
  ...draft,
  events: [...draft.events, ...events]
})

export const write = (draft: Draft, rows: ReadonlyArray<ListWrite>): Draft => ({
  ...draft,
  rows: [...draft.rows, ...rows]
})

export const setLeg = (draft: Draft, legId: Id.LegId, fields: Partial<Leg>): Draft =>
  set(draft, { legs: draft.state.legs.map((leg) => (leg.id === legId ? { ...leg, ...fields } : leg)) })

/**
 * Sends the account a message under the next number. An account that is rebuilt finds the same in the row of the call.
 */
export const tell = (draft: Draft, body: Told["body"]): Draft => {
  const n = draft.state.told + 1
  return { ...set(draft, { told: n }), tells: [...draft.tells, { from: draft.state.id, n, body }] }
}

/** Two steps in sequence, as one. */
export const after = (first: Draft, second: Draft): Draft => ({
  state: second.state,
  events: [...first.events, ...second.events],
  commands: [...first.commands, ...second.commands],
  rows: [...first.rows, ...second.rows],
  charges: [...first.charges, ...second.charges],
  tells: [...first.tells, ...second.tells]
})

/** Sends a command whose outcome is not awaited. */
export const send = (draft: Draft, command: CarrierCommand): Draft => ({
  ...draft,
  commands: [...draft.commands, command]
})

/** Sends a command and keeps it in the state until its outcome arrives. */
export const sendPending = (draft: Draft, pending: Pending, command: CarrierCommand): Draft =>
  send(set(draft, { pending: [...draft.state.pending, pending] }), command)

export const settle = (draft: Draft, is: (pending: Pending) => boolean): Draft =>
  draft.state.pending.some(is) ? set(draft, { pending: draft.state.pending.filter((pending) => !is(pending)) }) : draft

/** The id of the n-th command of this step. */
export const commandId = (context: StepContext, index = 0): Id.CommandId =>
  Id.CommandId.make(Id.deriveOpaque(context.seed, "command", index))

/** The id of the next command of this step. */
export const nextCommandId = (draft: Draft, context: StepContext): Id.CommandId =>
  commandId(context, 300 + draft.commands.length)

/** The ids that every event of the call's own leg repeats. */
export const ids = (state: CallState, legId: Id.LegId) => ({
  callId: state.id,
  legId,
  customerReference: state.customerReference
})
