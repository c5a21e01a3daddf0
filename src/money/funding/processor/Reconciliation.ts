import type { TenantId } from "../../../domain/Id.ts"

/**
 * The movements at the processor compared with the ledger, for one tenant or for all. The sums are of payments in US
 * dollars; a payment in another currency is an exception.
 */
export interface Reconciliation {
  /** The cents that the processor has charged. */
  readonly charged_cents: number
  /** The cents that went back to cards, by refunds and disputes that were not reversed. */
  readonly refunded_cents: number
  /** The money at the processor less its amount by the ledger: 0 when they agree. */
  readonly difference_cents: number
  /** One entry for each payment in which they differ. */
  readonly exceptions: ReadonlyArray<Exception>
  readonly checked_at: string
}

export interface Exception {
  readonly tenant_id: TenantId
  /** Null: a tenant's customer paid at the processor without an attempt here. */
  readonly attempt_id: string | null
  readonly intent_id: string | null
  /** In the smallest unit of `currency`. */
  readonly processor_cents: number
  /** The currency at the processor, in lower case. Results that an earlier version stored have none. */
  readonly currency?: string
  readonly ledger_cents: number
}
