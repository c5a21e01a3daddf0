import type { EntryType } from "../../domain/EntryType.ts"

/** Entries of one kind in a month, in signed cents like the ledger. */
export interface Group {
  readonly type: EntryType
  /** The description of an entry that is a separate thing; null when there are too many to be named. */
  readonly description: string | null
  readonly isDebit: boolean
  /** Whether they give back what a plan included. */
  readonly isIncluded: boolean
  /** Whether the operator corrects charges by them. Its other adjustments are money that came in or went out. */
  readonly isCorrection: boolean
  /** Whether they went to a card, or returned from one: refunds and disputes of top-ups. */
  readonly isReversal: boolean
  readonly entries: number
  readonly cents: number
}

export interface Line {
  readonly description: string
  readonly type: EntryType
  readonly quantity: number
  readonly unitCostCents: number | null
  readonly amountCents: number
}

export interface Statement {
  readonly openingBalanceCents: number
  /** Payments received, and payments returned to a card. */
  readonly credits: ReadonlyArray<Line>
  /** The use of the service. Amounts are positive, and negative when money was given back. */
  readonly lines: ReadonlyArray<Line>
  readonly subtotalCents: number
  readonly closingBalanceCents: number
}

/** The most lines of one invoice; the rest is one line for each type. */
const mostLines = 500

const names: Readonly<Record<EntryType, string>> = {
  call_charge: "Calls",
  topup: "Top-ups",
  auto_recharge: "Automatic recharges",
  recording_charge: "Recording",
  transcription_charge: "Transcription",
  amd_charge: "Machine detection",
  conference_charge: "Conferences",
  number_order: "Number orders",
  number_renewal: "Number renewals",
  lookup_charge: "Number lookups",
  plan_fee: "Plan fees",
  refund: "Refunds",
  adjustment: "Adjustments"
}

/** Whether the group is the customer's money, paid in or paid back, and not use of the service. */
export const isPayment = ({ isCorrection, isIncluded, isReversal, type }: Group): boolean =>
  type === "topup" || type === "auto_recharge" || isReversal || (type === "adjustment" && !isIncluded && !isCorrection)

const lineOf = (group: Group, sign: 1 | -1): Line => ({
  description: group.isIncluded ? "Included in the plan" : (group.description ?? names[group.type]),
  type: group.type,
  quantity: group.entries,
  unitCostCents:
    group.description !== null && group.cents % group.entries === 0 ? (sign * group.cents) / group.entries : null,
  amountCents: sign * group.cents
})

const bounded = (groups: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  if (groups.length <= mostLines) return groups
  const rest = new Map<string, Group>()
  for (const group of groups.slice(mostLines)) {
    const key = [group.type, group.isDebit, group.isIncluded, group.isCorrection, group.isReversal].join()
    const sum = rest.get(key)
    rest.set(key, {
      ...group,
      description: null,
      entries: group.entries + (sum?.entries ?? 0),
      cents: group.cents + (sum?.cents ?? 0)
    })
  }
  return [...groups.slice(0, mostLines), ...rest.values()]
}

/** A month, guide/money.md#invoices: opening balance + credits − lines = closing balance, to the cent. */
export const of = (openingBalanceCents: number, groups: ReadonlyArray<Group>): Statement => {
  const credits = bounded(groups.filter(isPayment)).map((group) => lineOf(group, 1))
  const lines = bounded(groups.filter((group) => !isPayment(group))).map((group) => lineOf(group, -1))
  const total = (all: ReadonlyArray<Line>) => all.reduce((sum, { amountCents }) => sum + amountCents, 0)
  const subtotalCents = total(lines)
  // Adding 0 turns -0 into 0 when nothing was debited.
  return {
    openingBalanceCents,
    credits,
    lines,
    subtotalCents: subtotalCents + 0,
    closingBalanceCents: openingBalanceCents + total(credits) - subtotalCents
  }
}

/** The UTC month of a moment. */
export const monthOf = (ms: number): { readonly period: string; readonly start: number; readonly end: number } => {
  const at = new Date(ms)
  const start = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
  return {
    period: new Date(start).toISOString().slice(0, 10),
    start,
    end: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
  }
}
