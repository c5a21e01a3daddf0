import { isDeepStrictEqual } from "node:util"
import { CallMachine, type CallState, CallSealing, Upgrade } from "../../../telephony/call/Call.ts"
import * as Envelope from "../../../domain/event/Envelope.ts"
import type { Json, StoredInput } from "../../../runtime/store/journal/Journal.ts"

/**
 * One step of a call's journal that is played again through the machine: replaying the inputs gives the stored state
 * (src/telephony/README.md#machine). Secrets are masked in all that it shows; what stands in for them is what is replayed.
 *
 * Pure. Every journaled input was accepted once. One that is not accepted again, or throws, is a fault that the step
 * names; the replay goes on from the state before it.
 */
export interface Step {
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly machineVersion: number
  readonly input: unknown
  /** After this input; null while there is none. */
  readonly state: CallState | null
  /** What this input changed in the state, without what every input changes. */
  readonly changes: ReadonlyArray<Change>
  /** As the wire has them. */
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

/** As it is shown. What an earlier version wrote and nobody can read any more has its type only. */
const inputOf = (stored: StoredInput): unknown => {
  try {
    return CallSealing.maskInput(Upgrade.inputShape(stored))
  } catch {
    return { type: asRecord(stored.input)["type"] ?? null }
  }
}

/** A field that every input changes tells nothing. */
const always: ReadonlySet<string> = new Set(["seq", "sequence", "at"])
/** How far the machine has heard a leg; every event of a carrier moves it. */
const isHeard = (path: string): boolean => /^legs\.\d+\.heard$/.test(path)

const changesOf = (before: CallState | null, after: CallState): ReadonlyArray<Change> =>
  before === null
    ? [{ path: "status", from: null, to: after.status }]
    : leaves(before, after).filter(({ path }) => !always.has(path) && !isHeard(path))

/** Where the replay differs from what is stored. None: both are the same JSON, whatever the order of their keys. */
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

/** As the database gives it back: no undefined, no prototypes. */
const json = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json

const isBranch = (value: Json): boolean => typeof value === "object" && value !== null

const asRecord = (value: Json): Readonly<Record<string, Json>> =>
  isBranch(value) ? (value as Readonly<Record<string, Json>>) : {}
