import type { StepContext } from "../../../runtime/actor/Machine.ts"
import type { Meter, ToCall } from "../../call/Call.ts"
import type { RoomCommand } from "../../../carrier/room/Rooms.ts"
import type { EmittedByConference } from "../../../domain/event/EventCatalogue.ts"
import * as Id from "../../../domain/Id.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { ConferenceState, Member } from "./ConferenceState.ts"

/** A step under construction: the next state and its effects, in order. Immutable: each function returns a new one. */
export interface Draft {
  readonly state: ConferenceState
  readonly events: ReadonlyArray<EmittedByConference>
  readonly commands: ReadonlyArray<RoomCommand>
  /** Messages to calls, sent after the commit. */
  readonly tells: ReadonlyArray<{ readonly callId: Id.CallId; readonly told: ToCall }>
  /** Rows of other lists than the conference's own, written with this commit. */
  readonly rows: ReadonlyArray<ListWrite>
  /** Debited with this commit. */
  readonly charges: ReadonlyArray<Meter.Charge>
}

export type Effects = Omit<Draft, "state">

export const from = (state: ConferenceState): Draft => ({
  state,
  events: [],
  commands: [],
  tells: [],
  rows: [],
  charges: []
})

export const set = (draft: Draft, fields: Partial<ConferenceState>): Draft => ({
  ...draft,
  state: { ...draft.state, ...fields }
})

export const emit = (draft: Draft, ...events: ReadonlyArray<EmittedByConference>): Draft => ({
  ...draft,
  events: [...draft.events, ...events]
})

export const write = (draft: Draft, rows: ReadonlyArray<ListWrite>): Draft => ({
  ...draft,
  rows: [...draft.rows, ...rows]
})

export const tell = (draft: Draft, callId: Id.CallId, told: ToCall): Draft => ({
  ...draft,
  tells: [...draft.tells, { callId, told }]
})

export const setMember = (draft: Draft, id: Id.MemberId, fields: Partial<Member>): Draft =>
  set(draft, { members: draft.state.members.map((member) => (member.id === id ? { ...member, ...fields } : member)) })

export const member = ({ state }: Draft, id: Id.MemberId): Member | undefined =>
  state.members.find((other) => other.id === id)

/** A command without the ids that all commands have. */
export type Asked = RoomCommand extends infer Command
  ? Command extends RoomCommand
    ? Omit<Command, "commandId" | "conferenceId">
    : never
  : never

const identified = (draft: Draft, asked: Asked, context: StepContext): RoomCommand => ({
  ...asked,
  commandId: commandId(draft, context),
  conferenceId: draft.state.id
})

/** The id of the next command of this step. */
export const commandId = (draft: Draft, context: StepContext): Id.CommandId =>
  Id.CommandId.make(Id.deriveOpaque(context.seed, "command", draft.commands.length))

export const send = (draft: Draft, command: RoomCommand): Draft => ({
  ...draft,
  commands: [...draft.commands, command]
})

/** Sends a command whose outcome is not awaited. */
export const ask = (draft: Draft, asked: Asked, context: StepContext): Draft =>
  send(draft, identified(draft, asked, context))

/** Whether two commands concern the same thing, so that the newer one replaces the older. */
const isAsMuch = (one: RoomCommand, other: RoomCommand): boolean =>
  one.type === other.type && ("memberId" in one ? "memberId" in other && one.memberId === other.memberId : true)

/** Sends a command and keeps it in the state until its outcome arrives. */
export const askPending = (draft: Draft, asked: Asked, context: StepContext): Draft => {
  const command = identified(draft, asked, context)
  return send(
    set(draft, { pending: [...draft.state.pending.filter((other) => !isAsMuch(other, command)), command] }),
    command
  )
}

export const settle = (draft: Draft, is: (pending: RoomCommand) => boolean): Draft =>
  draft.state.pending.some(is) ? set(draft, { pending: draft.state.pending.filter((pending) => !is(pending)) }) : draft
