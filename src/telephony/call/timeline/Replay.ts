import { isDeepStrictEqual } from "node:util"
import * as CallMachine from "../machine/CallMachine.ts"
import type { CallState } from "../machine/CallState.ts"
import * as CallSealing from "../stored/CallSealing.ts"
import * as Upgrade from "../stored/Upgrade.ts"
import * as Envelope from "../../../domain/event/Envelope.ts"
import type { Json, StoredInput } from "../../../runtime/store/journal/Journal.ts"

/**
 * One step of a call's journal, played again through the machine: replaying the inputs gives the stored state
 * (src/telephony/README.md#machine). Secrets are masked in the step; the replay uses the masks in their place.
 *
 * Pure. Every journaled input was accepted once. The step names a fault when its input is refused now or the machine
 * throws, and the replay continues from the state before it.
 */
export interface Step {
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly machineVersion: number
  readonly input: unknown
  /** The state after this input; null before the first one. */
  readonly state: CallState | null
  /** The changes by this input, without the fields that every input changes. */
  readonly changes: ReadonlyArray<Change>
  /** The events as they are on the wire. */
  readonly events: ReadonlyArray<{ readonly type: string; readonly data: unknown }>
  readonly commands: CallMachine.Effects["commands"]
  readonly charges: CallMachine.Effects["charges"]
  readonly fault: string | null
}

/** A leaf of the state by its path (`legs.0.status`), before and after. */
interface Change {
  readonly path: string
  readonly from: Json
  readonly to: Json
}

/** A place where the replayed state differs from the stored one. */
export interface Difference {
  readonly path: string
  readonly replayed: Json
  readonly stored: Json
}

export const replay = (inputs: ReadonlyArray<StoredInput>): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  let state: CallState | null = null
  for (const stored of inputs) {
    const { after, step } = play(state, stored)
    steps.push(step)
    state = after
  }
  return steps
}

const play = (
  before: CallState | null,
  stored: StoredInput
): { readonly step: Step; readonly after: CallState | null } => {
  const { machineVersion, seed, seq } = stored
  const at = Math.round(stored.at)
  const masked = before === null ? null : CallSealing.maskState(before)
  const nothing = {
    seq,
    at,
    machineVersion,
    input: inputOf(stored),
    state: masked,
    changes: [],
    events: [],
    commands: [],
    charges: []
  }
  try {
    const outcome = CallMachine.step(before, Upgrade.input(stored), { now: at, seed })
    if (outcome.type !== "accepted")
      return { step: { ...nothing, fault: `the machine answers ${outcome.type} this time` }, after: before }
    const { charges, commands, events } = outcome.effects
    const state = CallSealing.maskState(outcome.state)
    const step: Step = {
      ...nothing,
      state,
      changes: changesOf(masked, state),
      events: events.map((event) => ({ type: event.type, data: Envelope.masked(event.type, Envelope.dataOf(event)) })),
      commands: commands.map(CallSealing.maskCommand),
      charges,
      fault: null
    }
    return { step, after: outcome.state }
  } catch (cause) {
    const fault = `the machine throws: ${cause instanceof Error ? cause.message : String(cause)}`
    return { step: { ...nothing, fault }, after: before }
  }
}

/** The input as it is shown. An input of an earlier version that cannot be read any more shows its type only. */
const inputOf = (stored: StoredInput): unknown => {
  try {
    return CallSealing.maskInput(Upgrade.inputShape(stored))
  } catch {
    return { type: asRecord(stored.input)["type"] ?? null }
  }
}

/** Every input changes these fields, so their changes are not shown. */
const always: ReadonlySet<string> = new Set(["seq", "sequence", "at"])
/** `heard` is the last carrier event of a leg that the machine has handled; every carrier event moves it. */
const isHeard = (path: string): boolean => /^legs\.\d+\.heard$/.test(path)

const changesOf = (before: CallState | null, after: CallState): ReadonlyArray<Change> =>
  before === null
    ? [{ path: "status", from: null, to: after.status }]
    : leaves(before, after).filter(({ path }) => !always.has(path) && !isHeard(path))

/** The differences between the replay and the stored value, whatever the order of keys; empty when they are equal. */
export const differences = (replayed: unknown, stored: unknown): ReadonlyArray<Difference> =>
  leaves(replayed, stored).map(({ from, path, to }) => ({ path, replayed: from, stored: to }))

/** More differing leaves than this are not listed. */
const leafLimit = 50

/** A value that only one of two arrays or objects has is compared with null. */
const leaves = (from: unknown, to: unknown): ReadonlyArray<Change> => {
  const out: Array<Change> = []
  const walk = (path: string, left: Json, right: Json): void => {
    if (out.length >= leafLimit || isDeepStrictEqual(left, right)) return
    if (isBranch(left) && isBranch(right) && Array.isArray(left) === Array.isArray(right)) {
      const [a, b] = [asRecord(left), asRecord(right)]
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        walk(path === "" ? key : `${path}.${key}`, a[key] ?? null, b[key] ?? null)
      return
    }
    out.push({ path, from: left, to: right })
  }
  walk("", json(from), json(to))
  return out
}

/** A value as the database gives it back: without undefined and prototypes. */
const json = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json

const isBranch = (value: Json): boolean => typeof value === "object" && value !== null

const asRecord = (value: Json): Readonly<Record<string, Json>> =>
  isBranch(value) ? (value as Readonly<Record<string, Json>>) : {}
