import type { DeliveryId, EntityId, EventId, TenantId } from "../../../domain/Id.ts"

/**
 * What passes between the journal and the dispatcher of webhooks (src/README.md#fan-out). Before a statement the
 * dispatcher says which deliveries it would begin at once; these are born claimed, and are handed over when the
 * statement has written them.
 */

/** Longer than an attempt can take (10 s), with its outcome written. A row whose lease ran out is claimed again. */
export const leaseMs = 30_000

/** The endpoint of a delivery that the commit made, for the dispatcher (a hint; the row is the truth). */
export interface WebhookEndpointRef {
  /**
   * Subscription id, or `failover:` and the tenant's id: the column `destination`. Null: an event of the tenant is still
   * to be fanned out.
   */
  readonly endpoint: string | null
  readonly tenantId: TenantId
  readonly partition: number
}

/** A delivery that was born claimed: its first attempt may begin. */
export interface Handed {
  readonly id: DeliveryId
  readonly tenantId: TenantId
  readonly partition: number
  /** The column `destination`. */
  readonly endpoint: string
  readonly eventId: EventId
  readonly lane: EntityId
  readonly body: string
  readonly targetUrl: string
  readonly sealedSecret: string
  /** Its endpoint has had no success since one of its attempts failed. */
  readonly isFailing: boolean
}

/** An event of a batch, in the order of its entity. */
export interface Happened {
  readonly id: EventId
  readonly tenantId: TenantId
  readonly entityId: EntityId
}

/** What the dispatcher would begin at once. */
export interface Offer {
  /** Events whose deliveries may be born claimed; of each entity the first of the batch at most. */
  readonly events: ReadonlySet<EventId>
  /** Endpoints of their tenants without a place for them. */
  readonly closed: ReadonlyArray<string>
}

export const nothingOffered: Offer = { events: new Set(), closed: [] }

/** What a statement made. */
export interface Made {
  /** Where deliveries wait that nobody has claimed. */
  readonly endpoints: ReadonlyArray<WebhookEndpointRef>
  readonly handed: ReadonlyArray<Handed>
  /** When the statement began, on the monotonic clock: the lease of what is handed over is at least as old. */
  readonly sinceMs: number
}

/** The dispatcher, as the journal sees it. Neither function may fail. */
export interface DeliveryListener {
  readonly offer: (events: ReadonlyArray<Happened>) => Offer
  /**
   * Called after each commit that made deliveries. What was offered may not come back: its statement failed, or its
   * answer was lost. A delivery that was born claimed then returns with its lease.
   */
  readonly made: (made: Made) => void
}

export const nobodyListens: DeliveryListener = { offer: () => nothingOffered, made: () => undefined }
