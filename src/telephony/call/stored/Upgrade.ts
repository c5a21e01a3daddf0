import { type Result, Schema } from "effect"
import type { Json, StoredEntity, StoredInput } from "../../../runtime/store/journal/Journal.ts"
import { CallInput } from "../machine/CallInput.ts"
import { CallState } from "../machine/CallState.ts"
import * as CallSealing from "./CallSealing.ts"

/**
 * Reads the formats of earlier versions as this one: states for recovery and reads, and inputs that the operator
 * replays. A row that fits no format fails, or throws, where it is read.
 *
 * Secrets are sealed. Only a call that continues opens them; all other readers get the placeholders (`CallSealing`).
 */
type Stored = Pick<StoredEntity, "state" | "stateVersion">
type Input = Pick<StoredInput, "input" | "machineVersion">

/** Each version has its upgrade to the next: from the shape of the version that is its key to that of the one after. */
type Upgrades = Readonly<Record<number, (stored: Json) => Json>>

const upgraded = (stored: Json, version: number, upgrades: Upgrades): Json => {
  const upgrade = upgrades[version]
  return upgrade === undefined ? stored : upgraded(upgrade(stored), version + 1, upgrades)
}

/** A reader with these upgrades. */
export const make = (upgrades: { readonly states: Upgrades; readonly inputs: Upgrades }) => {
  /** A stored state in the shape of this version, whether or not it can be read. */
  const shape = ({ state, stateVersion }: Stored): Json => upgraded(state, stateVersion, upgrades.states)

  /** A journaled input in the shape of this version, whether or not it can be read. */
  const inputShape = ({ input, machineVersion }: Input): Json => upgraded(input, machineVersion, upgrades.inputs)

  return {
    shape,
    inputShape,
    /** The state of a stored row with placeholders for its secrets; fails where it cannot be read. */
    state: (row: Stored): Result.Result<CallState, Schema.SchemaError> =>
      Schema.decodeUnknownResult(CallState)(CallSealing.standInState(shape(row))),
    /** The state of a stored row whose call is live; fails where it cannot be read, or its secrets cannot be opened. */
    liveState: (row: Stored, open: (sealed: string) => string | null): Result.Result<CallState, Schema.SchemaError> =>
      Schema.decodeUnknownResult(CallState)(CallSealing.openState(shape(row), open)),
    /** A journaled input with placeholders for its secrets; throws where it cannot be read. */
    input: (stored: Input): CallInput =>
      Schema.decodeUnknownSync(CallInput)(CallSealing.standInInput(inputShape(stored)))
  }
}

const fieldsOf = (stored: Json): Readonly<Record<string, Json>> =>
  typeof stored === "object" && stored !== null && !Array.isArray(stored) ? (stored as Record<string, Json>) : {}

/** A call of version 5 keeps the rules of that version (`CallState.rules`); the first release wrote it. */
const keepsRules = (stored: Json): Json => ({ ...fieldsOf(stored), rules: 5 })

export const { input, inputShape, liveState, shape, state } = make({
  states: { 5: keepsRules },
  inputs: {
    5: (stored) => {
      const { terms, ...fields } = fieldsOf(stored)
      return terms === undefined ? stored : { ...fields, terms: keepsRules(terms) }
    }
  }
})
