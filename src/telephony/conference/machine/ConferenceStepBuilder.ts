import type { StepContext } from "../../../runtime/actor/Machine.ts"
import type { Meter, ToCall } from "../../call/Call.ts"
import type { RoomCommand } from "../../../carrier/room/Rooms.ts"
import type { EmittedByConference } from "../../../domain/event/EventCatalogue.ts"
import * as Id from "../../../domain/Id.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { ConferenceState, Member } from "./ConferenceState.ts"

/** A step under construction: the next state and its effects, in order. Immutable: each function returns a new one. */
export interface ConferenceStepBuilder {
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

export type Effects = Omit<ConferenceStepBuilder, "state">

export const from = (state: ConferenceState): ConferenceStepBuilder => ({
  state,
  events: [],
  commands: [],
  tells: [],
  rows: [],
  charges: []
})

export const set = (builder: ConferenceStepBuilder, fields: Partial<ConferenceState>): ConferenceStepBuilder => ({
  ...builder,
  state: { ...builder.state, ...fields }
})

export const emit = (
  builder: ConferenceStepBuilder,
  ...events: ReadonlyArray<EmittedByConference>
): ConferenceStepBuilder => ({
  ...builder,
  events: [...builder.events, ...events]
})

export const write = (builder: ConferenceStepBuilder, rows: ReadonlyArray<ListWrite>): ConferenceStepBuilder => ({
  ...builder,
  rows: [...builder.rows, ...rows]
})

export const tell = (builder: ConferenceStepBuilder, callId: Id.CallId, told: ToCall): ConferenceStepBuilder => ({
  ...builder,
  tells: [...builder.tells, { callId, told }]
})

export const setMember = (
  builder: ConferenceStepBuilder,
  id: Id.MemberId,
  fields: Partial<Member>
): ConferenceStepBuilder =>
  set(builder, {
    members: builder.state.members.map((member) => (member.id === id ? { ...member, ...fields } : member))
  })

export const member = ({ state }: ConferenceStepBuilder, id: Id.MemberId): Member | undefined =>
  state.members.find((other) => other.id === id)

/** The member, if it is in the room. */
export const present = (builder: ConferenceStepBuilder, id: Id.MemberId): Member | null => {
  const found = member(builder, id)
  return found?.phase === "joined" ? found : null
}

/** A command without the ids that all commands have. */
type Asked = RoomCommand extends infer Command
  ? Command extends RoomCommand
    ? Omit<Command, "commandId" | "conferenceId">
    : never
  : never

const identified = (builder: ConferenceStepBuilder, asked: Asked, context: StepContext): RoomCommand => ({
  ...asked,
  commandId: commandId(builder, context),
  conferenceId: builder.state.id
})

/** The id of the next command of this step. */
export const commandId = (builder: ConferenceStepBuilder, context: StepContext): Id.CommandId =>
  Id.CommandId.make(Id.deriveOpaque(context.seed, "command", builder.commands.length))

export const send = (builder: ConferenceStepBuilder, command: RoomCommand): ConferenceStepBuilder => ({
  ...builder,
  commands: [...builder.commands, command]
})

/** Sends a command whose outcome is not awaited. */
export const ask = (builder: ConferenceStepBuilder, asked: Asked, context: StepContext): ConferenceStepBuilder =>
  send(builder, identified(builder, asked, context))

/** Whether two commands concern the same thing, so that the newer one replaces the older. */
const isAsMuch = (one: RoomCommand, other: RoomCommand): boolean =>
  one.type === other.type && ("memberId" in one ? "memberId" in other && one.memberId === other.memberId : true)

/** Sends a command and keeps it in the state until its outcome arrives. */
export const askPending = (
  builder: ConferenceStepBuilder,
  asked: Asked,
  context: StepContext
): ConferenceStepBuilder => {
  const command = identified(builder, asked, context)
  return send(
    set(builder, { pending: [...builder.state.pending.filter((other) => !isAsMuch(other, command)), command] }),
    command
  )
}

export const settle = (builder: ConferenceStepBuilder, is: (pending: RoomCommand) => boolean): ConferenceStepBuilder =>
  builder.state.pending.some(is)
    ? set(builder, { pending: builder.state.pending.filter((pending) => !is(pending)) })
    : builder
