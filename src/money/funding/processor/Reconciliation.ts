/** The movements at the processor compared with the ledger, for one tenant or for all. */
export interface Reconciliation {
  /** The cents that the processor has charged. */
  readonly charged_cents: number
  /** The cents that went back to cards, by refunds and disputes that were not reversed. */
  readonly refunded_cents: number
  /** The money at the processor less its amount by the ledger: 0 when they agree. */
  readonly difference_cents: number
  /** One entry for each attempt in which they differ. */
  readonly exceptions: ReadonlyArray<Exception>
  readonly checked_at: string
}

export interface Exception {
  readonly tenant_id: string | null
  /** Null: the processor has a payment without an attempt here. */
  readonly attempt_id: string | null
  readonly intent_id: string | null
  readonly processor_cents: number
  readonly ledger_cents: number
}
