import { Schema } from "effect"
import * as Id from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

const TimestampOrNull = Schema.NullOr(Schema.String)

/**
 * A webhook subscription, guide/webhooks.md#subscriptions. The signing secret is in no view but that of its creation.
 */
export const Subscription = Schema.Struct({
  id: Id.SubscriptionId,
  target_url: Schema.String,
  event_types: Schema.Array(Schema.String),
  description: Schema.NullOr(Schema.String),
  connection_id: Schema.NullOr(Id.RouteId).annotate({
    description: "Only events of this connection's calls; null: all of the workspace."
  }),
  is_active: Schema.Boolean,
  created_at: Schema.String
}).annotate({ identifier: "WebhookSubscription" })
export type SubscriptionView = typeof Subscription.Type

export const CreatedSubscription = Schema.Struct({
  ...Subscription.fields,
  signing_secret: Schema.String.annotate({ description: "`whsec_…`; shown here only." })
}).annotate({ identifier: "CreatedWebhookSubscription" })

export const deliveryStatuses = ["queued", "sending", "succeeded", "failed"] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * A webhook delivery, guide/webhooks.md#the-delivery-log: one for each event and subscription; `attempt_no` is the last
 * attempt.
 */
export const Delivery = Schema.Struct({
  id: Id.Uuid,
  subscription_id: Schema.NullOr(Id.SubscriptionId).annotate({ description: "Null: the failover URL." }),
  event_id: Id.Uuid,
  event_type: Schema.String,
  attempt_no: Schema.Int.annotate({ description: "0 before the first." }),
  status: Schema.Literals(deliveryStatuses),
  response_status_code: Schema.NullOr(Schema.Int),
  response_body_snippet: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  sent_at: TimestampOrNull,
  next_retry_at: TimestampOrNull,
  created_at: Schema.String
}).annotate({ identifier: "WebhookDelivery" })
export type DeliveryView = typeof Delivery.Type

/** Times in epoch milliseconds. */
export interface SubscriptionRow {
  readonly id: string
  readonly targetUrl: string
  readonly eventTypes: ReadonlyArray<string>
  readonly description: string | null
  readonly connectionId: string | null
  readonly isActive: boolean
  readonly createdAt: number
}

export interface DeliveryRow {
  readonly id: string
  readonly subscriptionId: string | null
  readonly eventId: string
  readonly eventType: string
  readonly attemptNo: number
  readonly status: DeliveryStatus
  readonly responseStatusCode: number | null
  readonly responseBodySnippet: string | null
  readonly errorMessage: string | null
  readonly sentAt: number | null
  readonly nextRetryAt: number | null
  readonly createdAt: number
}

export const subscription = (row: SubscriptionRow): SubscriptionView => ({
  id: row.id,
  target_url: row.targetUrl,
  event_types: row.eventTypes,
  description: row.description,
  connection_id: row.connectionId,
  is_active: row.isActive,
  created_at: Timestamp.format(row.createdAt)
})

export const delivery = (row: DeliveryRow): DeliveryView => ({
  id: row.id,
  subscription_id: row.subscriptionId,
  event_id: row.eventId,
  event_type: row.eventType,
  attempt_no: row.attemptNo,
  status: row.status,
  response_status_code: row.responseStatusCode,
  response_body_snippet: row.responseBodySnippet,
  error_message: row.errorMessage,
  sent_at: Timestamp.formatOrNull(row.sentAt),
  next_retry_at: Timestamp.formatOrNull(row.nextRetryAt),
  created_at: Timestamp.format(row.createdAt)
})
