/** Drives a transaction machine through every cell of its transition table, and through random histories. */
import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type * as Transaction from "../../src/protocol/sip/transaction/Transaction.ts"
import { words } from "./fake/SipSample.ts"

interface MachineState {
  readonly phase: string
  readonly deadlines: ReadonlyArray<Transaction.Deadline>
}

export interface Machine<State extends MachineState, Input> {
  readonly start: () => Transaction.Step<State>
  readonly step: (state: State, input: Input | Transaction.Due, now: number) => Transaction.Step<State>
  /** Every input that is not a timer, by its column's name. */
  readonly inputs: Readonly<Record<string, Input>>
  /** Columns that lead from the start into each phase. A letter is a timer. */
  readonly reach: Readonly<Record<string, ReadonlyArray<string>>>
  readonly timers: ReadonlyArray<string>
  /** `[phase, column, next phase, ...outputs]`; every cell that is not listed changes nothing and gives no output. */
  readonly rows: ReadonlyArray<readonly [string, string, string, ...ReadonlyArray<string>]>
}

/** One event at its time: a timer alone, as if the others were later. */
const apply = <State extends MachineState, Input>(
  machine: Machine<State, Input>,
  state: State,
  column: string
): Transaction.Step<State> => {
  const input = machine.inputs[column]
  if (input !== undefined) return machine.step(state, input, 0)
  const alone = state.deadlines.filter(({ timer }) => timer === column)
  const at = alone[0]?.at
  return at === undefined ? { state, outputs: [] } : machine.step({ ...state, deadlines: alone }, { type: "due" }, at)
}

const reached = <State extends MachineState, Input>(machine: Machine<State, Input>, phase: string): State => {
  let { state } = machine.start()
  for (const column of machine.reach[phase] ?? []) state = apply(machine, state, column).state
  expect(state.phase).toBe(phase)
  return state
}

export const describeTable = <State extends MachineState, Input>(
  name: string,
  machine: Machine<State, Input>
): void => {
  describe(name, () => {
    const columns = [...Object.keys(machine.inputs), ...machine.timers]
    const phases = Object.keys(machine.reach)
    for (const [phase, column, next, ...outputs] of machine.rows)
      it(`in ${phase}, ${column} leads to ${next}: ${outputs.length === 0 ? "nothing" : outputs.join(", ")}`, () => {
        const step = apply(machine, reached(machine, phase), column)
        expect([step.state.phase, ...words(step.outputs)]).toEqual([next, ...outputs])
      })
    it("ignores every other event", () => {
      const listed = new Set(machine.rows.map(([phase, column]) => `${phase} ${column}`))
      for (const phase of phases)
        for (const column of columns.filter((column) => !listed.has(`${phase} ${column}`))) {
          const step = apply(machine, reached(machine, phase), column)
          expect([column, step.state.phase, ...words(step.outputs)]).toEqual([column, phase])
        }
    })
    it("lists only cells that exist", () => {
      for (const [phase, column, next] of machine.rows) {
        expect(phases).toContain(phase)
        expect(columns).toContain(column)
        expect(phases).toContain(next)
      }
    })
  })
}

/** Events with the milliseconds that pass before each. */
export const histories = (columns: ReadonlyArray<string>) =>
  Schema.Array(
    Schema.Struct({
      column: Schema.Literals(columns),
      afterMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 }))
    })
  ).check(Schema.isMaxLength(40))

type History = ReadonlyArray<{ readonly column: string; readonly afterMs: number }>

export interface Run<State> {
  readonly state: State
  readonly now: number
  readonly outputs: ReadonlyArray<{ readonly at: number; readonly said: string }>
}

/** Fires every timer at its time until `until`. */
export const elapse = <State extends MachineState, Input>(
  machine: Machine<State, Input>,
  run: Run<State>,
  until: number
): Run<State> => {
  let { state } = run
  const outputs = [...run.outputs]
  while (true) {
    const at = Math.min(...state.deadlines.map((deadline) => deadline.at))
    if (at > until) return { state, now: until, outputs }
    const step = machine.step(state, { type: "due" }, at)
    outputs.push(...words(step.outputs).map((said) => ({ at, said })))
    state = step.state
  }
}

/** A history with all timers honoured. Checks that `terminated` comes once, comes last, and absorbs. */
export const live = <State extends MachineState, Input>(
  machine: Machine<State, Input>,
  history: History
): Run<State> => {
  const started = machine.start()
  let run: Run<State> = {
    state: started.state,
    now: 0,
    outputs: words(started.outputs).map((said) => ({ at: 0, said }))
  }
  for (const { column, afterMs } of history) {
    run = elapse(machine, run, run.now + afterMs)
    const input = machine.inputs[column]
    if (input === undefined) continue
    const step = machine.step(run.state, input, run.now)
    const said = words(step.outputs).map((said) => ({ at: run.now, said }))
    run = { ...run, state: step.state, outputs: [...run.outputs, ...said] }
  }
  const end = run.outputs.findIndex(({ said }) => said === "terminated")
  expect(end === -1 || end === run.outputs.length - 1).toBe(true)
  expect(end !== -1).toBe(run.state.phase === "terminated")
  return run
}
