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
export interface StepBuilder {
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

export type Effects = Omit<StepBuilder, "state">

export const from = (state: CallState): StepBuilder => ({
  state,
  events: [],
  commands: [],
  rows: [],
  charges: [],
  tells: []
})

export const set = (builder: StepBuilder, fields: Partial<CallState>): StepBuilder => ({
  ...builder,
  state: { ...builder.state, ...fields }
})

export const emit = (builder: StepBuilder, ...events: ReadonlyArray<EmittedByCall>): StepBuilder => ({
  ...builder,
  events: [...builder.events, ...events]
})

export const write = (builder: StepBuilder, rows: ReadonlyArray<ListWrite>): StepBuilder => ({
  ...builder,
  rows: [...builder.rows, ...rows]
})

export const setLeg = (builder: StepBuilder, legId: Id.LegId, fields: Partial<Leg>): StepBuilder =>
  set(builder, { legs: builder.state.legs.map((leg) => (leg.id === legId ? { ...leg, ...fields } : leg)) })

/**
 * Sends the account a message under the next number. An account that is rebuilt finds the same in the row of the call.
 */
export const tell = (builder: StepBuilder, body: Told["body"]): StepBuilder => {
  const n = builder.state.told + 1
  return { ...set(builder, { told: n }), tells: [...builder.tells, { from: builder.state.id, n, body }] }
}

/** Two steps in sequence, as one. */
export const after = (first: StepBuilder, second: StepBuilder): StepBuilder => ({
  state: second.state,
  events: [...first.events, ...second.events],
  commands: [...first.commands, ...second.commands],
  rows: [...first.rows, ...second.rows],
  charges: [...first.charges, ...second.charges],
  tells: [...first.tells, ...second.tells]
})

/** Sends a command whose outcome is not awaited. */
export const send = (builder: StepBuilder, command: CarrierCommand): StepBuilder => ({
  ...builder,
  commands: [...builder.commands, command]
})

/** Sends a command and keeps it in the state until its outcome arrives. */
export const sendPending = (builder: StepBuilder, pending: Pending, command: CarrierCommand): StepBuilder =>
  send(set(builder, { pending: [...builder.state.pending, pending] }), command)

export const settle = (builder: StepBuilder, is: (pending: Pending) => boolean): StepBuilder =>
  builder.state.pending.some(is)
    ? set(builder, { pending: builder.state.pending.filter((pending) => !is(pending)) })
    : builder

/** The id of the n-th command of this step. */
export const commandId = (context: StepContext, index = 0): Id.CommandId =>
  Id.CommandId.make(Id.deriveOpaque(context.seed, "command", index))

/** The id of the next command of this step. */
export const nextCommandId = (builder: StepBuilder, context: StepContext): Id.CommandId =>
  commandId(context, 300 + builder.commands.length)

/** The ids that every event of the call's own leg repeats. */
export const ids = (state: CallState, legId: Id.LegId) => ({
  callId: state.id,
  legId,
  customerReference: state.customerReference
})
