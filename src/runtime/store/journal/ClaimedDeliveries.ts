import type { DeliveryId, EventId, TenantId } from "../../../domain/Id.ts"

/**
 * The data that the journal and the dispatcher of webhooks exchange (src/webhook/README.md#fan-out). Before a statement
 * the dispatcher names the deliveries that it would begin at once. The statement makes these as already claimed, and
 * they are handed over when it has written them.
 */

/**
 * The lease of a claimed delivery. It is longer than an attempt (at most 10 s) and the writing of its outcome. A row
 * whose lease ran out is claimed again.
 */
export const leaseMs = 30_000

/** The endpoint of a delivery that the commit made. It is a hint for the dispatcher; the row is authoritative. */
export interface WebhookEndpointRef {
  /**
   * The column `destination`: a subscription id, or `failover:` and the tenant's id. Null: an event of the tenant is
   * still to be fanned out.
   */
  readonly endpoint: string | null
  readonly tenantId: TenantId
  readonly partition: number
}

/** A delivery that was made as already claimed, so that its first attempt may begin. */
export interface Handed {
  readonly id: DeliveryId
  readonly tenantId: TenantId
  readonly partition: number
  /** The column `destination`. */
  readonly endpoint: string
  readonly eventId: EventId
  readonly lane: string
  readonly body: string
  readonly targetUrl: string
  readonly sealedSecret: string
  /** One of the endpoint's attempts failed, and none has succeeded since. */
  readonly isFailing: boolean
}

/** An event of a batch; the events of a lane are in order. */
export interface Happened {
  readonly id: EventId
  readonly tenantId: TenantId
  readonly lane: string
}

/** The deliveries that the dispatcher would begin at once. */
export interface Offer {
  /** Events whose deliveries may be made as already claimed; at most the first one of each lane in the batch. */
  readonly events: ReadonlySet<EventId>
  /** Endpoints of their tenants that have no free place. */
  readonly closed: ReadonlyArray<string>
}

export const nothingOffered: Offer = { events: new Set(), closed: [] }

/** The deliveries that a statement made. */
export interface Made {
  /** The endpoints with deliveries that are not claimed. */
  readonly endpoints: ReadonlyArray<WebhookEndpointRef>
  readonly handed: ReadonlyArray<Handed>
  /** The time when the statement began, on the monotonic clock. The leases of `handed` began no earlier. */
  readonly sinceMs: number
}

/** The dispatcher as the journal uses it. Neither function may fail. */
export interface DeliveryListener {
  readonly offer: (events: ReadonlyArray<Happened>) => Offer
  /**
   * Called after each commit that made deliveries. Offered deliveries may never be handed over, because their statement
   * failed or its answer was lost. One that was made as already claimed then becomes due when its lease ends.
   */
  readonly made: (made: Made) => void
}

export const nobodyListens: DeliveryListener = { offer: () => nothingOffered, made: () => undefined }
