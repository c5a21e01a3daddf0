/** What the processor says that moved, against the ledger; per tenant, or of all. */
export interface Reconciliation {
  /** What the processor has charged. */
  readonly charged_cents: number
  /** What went back to cards, by refunds and disputes that stand. */
  readonly refunded_cents: number
  /** What the processor has, less what the ledger says it has: 0 when all is well. */
  readonly difference_cents: number
  /** One line for each attempt where they differ. */
  readonly exceptions: ReadonlyArray<Exception>
  readonly checked_at: string
}

export interface Exception {
  readonly tenant_id: string | null
  /** Null: the processor has a payment that no attempt knows. */
  readonly attempt_id: string | null
  readonly intent_id: string | null
  readonly processor_cents: number
  readonly ledger_cents: number
}
