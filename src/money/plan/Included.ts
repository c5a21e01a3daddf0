import * as Money from "../../domain/Money.ts"
import type { EntryType } from "../../domain/EntryType.ts"

/**
 * The quantities that a plan includes, guide/money.md#plans, by their names in usage. Each is a kind of debit. A
 * started minute of billed time counts, so minutes are included and not seconds.
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

/** A quantity, and the price that is left when a part of it is covered. */
export interface Charged {
  readonly quantity: number
  readonly restMicroUsd: (covered: number) => number
}

/**
 * Takes the parts of a debit of `cents` from the quantity that is left, and returns the quantity taken and the cents
 * that come back. The uncovered rest is rounded up once, like the debit, so debit and credit together leave the price
 * of the rest. Free parts take nothing, and never more comes back than the debit.
 */
export const take = (
  left: number,
  cents: number,
  parts: ReadonlyArray<Charged>
): { readonly taken: number; readonly backCents: number } => {
  let taken = 0
  let restMicro = 0
  for (const { quantity, restMicroUsd } of parts) {
    const covered = restMicroUsd(0) > 0 ? Math.min(quantity, left - taken) : 0
    taken += covered
    restMicro += restMicroUsd(covered)
  }
  const backCents = taken === 0 ? 0 : Math.max(0, cents - Money.centsFromMicro(restMicro))
  return { taken, backCents }
}

/** The first day's date in the next month, or the last day of a shorter month; UTC. */
export const nextPeriod = (beganAt: number, after: number): number => {
  const [began, at] = [new Date(beganAt), new Date(after)]
  const month = at.getUTCMonth() + 1
  const last = new Date(Date.UTC(at.getUTCFullYear(), month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(at.getUTCFullYear(), month, Math.min(began.getUTCDate(), last))
  return midnight + (beganAt - Date.UTC(began.getUTCFullYear(), began.getUTCMonth(), began.getUTCDate()))
}
