import type { LedgerEntryId } from "../../../domain/Id.ts"

/** A charged top-up. */
export interface Charged {
  readonly attemptId: LedgerEntryId
  /** The cents that did not go back yet by a refund or a dispute. */
  readonly leftCents: number
  /** Whether nothing more can go back to it: another processor charged it, or it has refused a refund of this round. */
  readonly isClosed: boolean
}

/** The facts that decide over a payout, when no refund and no top-up is under way. */
export interface Facts {
  readonly balanceCents: number
  /** The trial credit that the tenant received. */
  readonly trialCents: number
  /** The total cost of everything, less the money that a plan gave back. */
  readonly spentCents: number
  /** The top-ups, the newest first. */
  readonly topUps: ReadonlyArray<Charged>
}

export interface Refund {
  readonly attemptId: LedgerEntryId
  readonly cents: number
}

/** The tenant's own money: the balance without the remaining trial credit. Trial credit is spent first. */
export const owedCents = ({ balanceCents, spentCents, trialCents }: Facts): number =>
  Math.max(0, balanceCents - Math.max(0, trialCents - Math.max(0, spentCents)))

/**
 * The refunds that return the money owed, guide/tenants.md#refund-of-the-balance: the newest top-up first, each up to
 * what is left of it. Empty when nothing more is owed, or when no card takes it.
 */
export const refunds = (facts: Facts): ReadonlyArray<Refund> => {
  let rest = owedCents(facts)
  return facts.topUps.flatMap(({ attemptId, isClosed, leftCents }) => {
    const cents = isClosed ? 0 : Math.min(rest, leftCents)
    if (cents <= 0) return []
    rest -= cents
    return [{ attemptId, cents }]
  })
}
