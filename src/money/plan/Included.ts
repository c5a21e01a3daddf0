import * as Money from "../../domain/Money.ts"
import type { EntryType } from "../../domain/EntryType.ts"

/**
 * What a plan includes, guide/money.md#plans: quantities by the names that usage has for them. Each is a kind of debit;
 * a call is charged by the minute that was started, so it is minutes that are included and not seconds.
 */
export const fields = {
  billed_minutes: "call_charge",
  recording_minutes: "recording_charge",
  transcription_minutes: "transcription_charge",
  conference_participant_minutes: "conference_charge",
  amd_checks: "amd_charge",
  lookups: "lookup_charge"
} as const satisfies Readonly<Record<string, EntryType>>
export type Field = keyof typeof fields
export const names = Object.keys(fields) as ReadonlyArray<Field>
export type Quantities = Readonly<Partial<Record<Field, number>>>

export const fieldOf = (type: EntryType): Field | null => names.find((name) => fields[name] === type) ?? null

/** So much of one price. */
export interface Charged {
  readonly quantity: number
  readonly microUsd: number
}

/**
 * Takes what a debit of `cents` is made of out of what is left: how much is taken, and the cents that come back. What is
 * not covered is rounded up once, as the debit was, so debit and credit leave what the rest costs. What is free takes
 * nothing, and nothing comes back beyond the debit.
 */
export const take = (
  left: number,
  cents: number,
  parts: ReadonlyArray<Charged>
): { readonly taken: number; readonly backCents: number } => {
  let taken = 0
  let restMicro = 0
  for (const { microUsd, quantity } of parts) {
    const covered = microUsd > 0 ? Math.min(quantity, left - taken) : 0
    taken += covered
    restMicro += (quantity - covered) * microUsd
  }
  const backCents = taken === 0 ? 0 : Math.max(0, cents - Money.centsFromMicro(restMicro))
  return { taken, backCents }
}

/** The same day of the next month as the first one, or the last day of a shorter month; UTC. */
export const nextPeriod = (beganAt: number, after: number): number => {
  const [began, at] = [new Date(beganAt), new Date(after)]
  const month = at.getUTCMonth() + 1
  const last = new Date(Date.UTC(at.getUTCFullYear(), month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(at.getUTCFullYear(), month, Math.min(began.getUTCDate(), last))
  return midnight + (beganAt - Date.UTC(began.getUTCFullYear(), began.getUTCMonth(), began.getUTCDate()))
}
