import * as Secret from "../../../domain/schema/Secret.ts"
import * as Sealed from "../../../runtime/store/vault/EntityKeys.ts"
import { ConferenceInput } from "../machine/ConferenceInput.ts"
import type { ConferenceStep } from "./ConferenceRecord.ts"
import { ConferenceState } from "../machine/ConferenceState.ts"

/**
 * Seals the secrets of a conference between the machine and the journal, guide/operation.md#secrets: spoken texts, and
 * URLs that carry more than an address.
 */
const ofInput = Secret.places(ConferenceInput)
const ofState = Secret.places(ConferenceState)

export const sealed = (
  { input, state }: Pick<ConferenceStep, "input" | "state">,
  seal: (plain: string) => string
): { readonly input: unknown; readonly state: unknown } => {
  const wrap = Sealed.wrap(seal, (kind, value) => Secret.shown(kind, value) ?? value)
  return { input: ofInput(input, wrap), state: ofState(state, wrap) }
}

/** A stored state with its secrets opened. A secret for which `open` returns null keeps its placeholder. */
export const openState = <A>(stored: A, open: (sealed: string) => string | null): A =>
  ofState(stored, (value) => (Sealed.is(value) ? (open(value.sealed) ?? value.standIn) : value))

/** A stored state or input with placeholders for its secrets. */
export const standInState = <A>(stored: A): A => ofState(stored, (value) => (Sealed.is(value) ? value.standIn : value))
export const standInInput = <A>(stored: A): A => ofInput(stored, (value) => (Sealed.is(value) ? value.standIn : value))
