import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import * as Id from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

/**
 * A webhook subscription, guide/webhooks.md#subscriptions. The signing secret is in no view but that of its creation.
 */
export const Subscription = Schema.Struct({
  id: Field.id("sub", "The subscription."),
  target_url: Field.text("Where the events go.", "https://example.com/hooks"),
  event_types: Field.texts("The events that go there; `*` is all.", ["call.answered", "call.ended"]),
  description: Field.textOrNull("As given.", "call log"),
  connection_id: Schema.NullOr(Id.spelled("route")).annotate({
    description: "Only events of this connection's calls; null: all of the workspace.",
    examples: [null]
  }),
  is_active: Field.flag("False: it gets nothing, and what waits for it fails.", true),
  created_at: Field.moment("When it was created.")
}).annotate({ identifier: "WebhookSubscription" })
export type SubscriptionView = typeof Subscription.Type

export const CreatedSubscription = Schema.Struct({
  ...Subscription.fields,
  signing_secret: Field.text("Signs every delivery; shown here only.", "whsec_…")
}).annotate({ identifier: "CreatedWebhookSubscription" })

export const deliveryStatuses = ["queued", "sending", "succeeded", "failed"] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * A webhook delivery, guide/webhooks.md#the-delivery-log: one for each event and subscription; `attempt_no` is the last
 * attempt.
 */
export const Delivery = Schema.Struct({
  id: Field.uuid(Id.DeliveryId, "The delivery."),
  subscription_id: Field.idOrNull("sub", "Null: the failover URL."),
  event_id: Field.uuid(Id.EventId, "The event, as its receiver is told."),
  event_type: Field.text("The event's name.", "call.ended"),
  attempt_no: Field.count("Of the last attempt; 0 before the first.", 1),
  status: Field.oneOf("Between attempts a delivery is `queued`.", deliveryStatuses),
  response_status_code: Schema.NullOr(Schema.Int).annotate({
    description: "What the target answered last; null: nothing.",
    examples: [503]
  }),
  response_body_snippet: Field.textOrNull("The beginning of that answer's body.", "busy"),
  error_message: Field.textOrNull("Why the last attempt failed; null when it did not.", "HTTP 503"),
  sent_at: Field.momentOrNull("When the last attempt began.", "2026-01-01T00:00:00.000Z"),
  next_retry_at: Field.momentOrNull("When it is tried again; null: not any more.", "2026-01-01T00:00:30.000Z"),
  created_at: Field.moment("When the event was committed.")
}).annotate({ identifier: "WebhookDelivery" })
export type DeliveryView = typeof Delivery.Type

/** Times in epoch milliseconds. */
export interface SubscriptionRow {
  readonly id: Id.SubscriptionId
  readonly targetUrl: string
  readonly eventTypes: ReadonlyArray<string>
  readonly description: string | null
  readonly connectionId: Id.RouteId | null
  readonly isActive: boolean
  readonly createdAt: number
}

interface DeliveryRow {
  readonly id: Id.DeliveryId
  readonly subscriptionId: Id.SubscriptionId | null
  readonly eventId: Id.EventId
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
