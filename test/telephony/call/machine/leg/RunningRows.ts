import type { CallInput } from "../../../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../../../src/telephony/call/machine/CallMachine.ts"
import * as RoomAnswer from "../../../../../src/telephony/call/machine/room/RoomAnswer.ts"
import type { ToConference } from "../../../../../src/telephony/call/machine/room/RoomTell.ts"
import type { CallState } from "../../../../../src/telephony/call/machine/CallState.ts"
import type { Effects } from "../../../../../src/telephony/call/machine/StepBuilder.ts"
import type { Step } from "../../../../../src/runtime/actor/Behavior.ts"
import type { StepContext } from "../../../../../src/runtime/actor/Machine.ts"
import type { EmittedByCall } from "../../../../../src/domain/event/EventCatalogue.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import * as SeenEvent from "../../../../support/SeenEvent.ts"
import * as Sample from "../../CallSample.ts"
import type * as Outcome from "./Outcome.ts"

/** The stored rows of a call, from all engines, and the faults that were seen on the way. */
export interface Call {
  state: CallState
  events: ReadonlyArray<EmittedByCall>
  charged: number
  inputs: ReadonlyArray<{ readonly input: CallInput; readonly context: StepContext }>
  /** Requests that connect legs. */
  connects: ReadonlyArray<Outcome.Asked & { readonly since: number }>
  /** The messages of the call to conferences. */
  said: ReadonlyArray<ToConference>
  /** Work that has begun, by its id. */
  started: ReadonlyMap<string, CallState["work"][number]>
}

export interface Rows {
  readonly calls: Map<Id.CallId, Call>
  readonly inputs: Set<CallInput>
  readonly commands: Set<string>
  readonly faults: Array<string>
}

export const make = (): Rows => ({ calls: new Map(), inputs: new Set(), commands: new Set(), faults: [] })

export const state = ({ calls }: Rows, callId: Id.CallId): CallState | null => calls.get(callId)?.state ?? null

const connectOf = (input: CallInput): Outcome.Asked | null => {
  if (input.type !== "action") return null
  const { action } = input
  switch (action.verb) {
    case "transfer":
      return input.transfer === undefined ? null : { verb: "transfer", legId: input.transfer.legId }
    case "bridge":
      return { verb: "bridge", legId: action.body.legId }
    case "refer":
      return { verb: "refer", legId: Id.derive("none", "leg") }
    default:
      return null
  }
}

/** Writes a step as a commit does: all of it at once. */
export const write = (
  rows: Rows,
  { before, context, effects, input, state }: Step<CallState, CallInput, Effects>
): void => {
  SeenEvent.check(effects.events)
  for (const { data, type } of effects.events)
    for (const [name, value] of Object.entries(data))
      if (name.endsWith("At") && Number(value) > context.now) rows.faults.push(`${type} tells of the future`)
  const { started, charged, connects, events, inputs, said } = rows.calls.get(state.id) ?? {
    started: new Map<string, CallState["work"][number]>(),
    charged: 0,
    connects: [],
    events: [],
    inputs: [],
    said: []
  }
  const connect = connectOf(input)
  rows.calls.set(state.id, {
    state,
    events: [...events, ...effects.events],
    charged: charged + Sample.charged(effects),
    inputs: [...inputs, { input, context }],
    said: [...said, ...RoomAnswer.ofChange(before, state)],
    connects: connect === null ? connects : [...connects, { ...connect, since: events.length }],
    started: new Map([...started, ...state.work.map((item) => [item.id, started.get(item.id) ?? item] as const)])
  })
  rows.inputs.add(input)
  for (const { commandId } of effects.commands) rows.commands.add(commandId)
}

/** The state from a replay of the stored inputs. */
export const replayed = ({ inputs }: Call): CallState | null =>
  inputs.reduce<CallState | null>((state, { context, input }) => {
    const outcome = CallMachine.step(state, input, context)
    return outcome.type === "accepted" ? outcome.state : null
  }, null)
