import type { LedgerEntryId } from "../../../domain/Id.ts"

/** A top-up that was charged. */
export interface Charged {
  readonly attemptId: LedgerEntryId
  /** What did not go back yet, by a refund or a dispute. */
  readonly leftCents: number
  /** Nothing more can go back to it: another processor charged it, or it has refused a refund of this round. */
  readonly isClosed: boolean
}

/** What decides over a payout, when no refund and no top-up is under way. */
export interface Facts {
  readonly balanceCents: number
  /** The trial credit that the tenant was given. */
  readonly trialCents: number
  /** What everything has cost, less what a plan gave back. */
  readonly spentCents: number
  /** The newest first. */
  readonly topUps: ReadonlyArray<Charged>
}

export interface Refund {
  readonly attemptId: LedgerEntryId
  readonly cents: number
}

/** What belongs to the tenant: the balance without the trial credit that is left. Trial credit is spent first. */
export const owedCents = ({ balanceCents, spentCents, trialCents }: Facts): number =>
  Math.max(0, balanceCents - Math.max(0, trialCents - Math.max(0, spentCents)))

/**
 * The refunds that give back what is owed, guide/tenants.md#refund-of-the-balance: the newest top-up first, each at most
 * what is left of it. None: there is nothing more to give back, or no card that takes it.
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
