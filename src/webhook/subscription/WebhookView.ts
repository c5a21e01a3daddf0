import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as Id from "../../domain/Id.ts"

const fields = {
  id: Field.id("sub", "The subscription."),
  targetUrl: Field.text("Where the events go.", "https://example.com/hooks"),
  eventTypes: Field.texts("The events that go there; `*` is all.", ["call.answered", "call.ended"]),
  description: Field.textOrNull("As given.", "call log"),
  connectionId: Schema.NullOr(Id.spelled("route")).annotate({
    description: "Only events of this connection's calls; null: all of the workspace.",
    examples: [null]
  }),
  isActive: Field.flag("False: it gets nothing, and what waits for it fails.", true),
  createdAt: Field.time("When it was created.")
}

/** A webhook subscription, guide/webhooks.md#subscriptions. Only the view of its creation has the signing secret. */
export const Subscription = Wire.struct(fields).pipe(Schema.annotateEncoded({ identifier: "WebhookSubscription" }))
/** Times in epoch milliseconds. */
export type SubscriptionRow = typeof Subscription.Type
export type SubscriptionView = typeof Subscription.Encoded

export const subscription = Wire.encoder(Subscription)

export const CreatedSubscription = Wire.struct({
  ...fields,
  signingSecret: Field.text("Signs every delivery; shown here only.", "whsec_…")
}).pipe(Schema.annotateEncoded({ identifier: "CreatedWebhookSubscription" }))

export const created = Wire.encoder(CreatedSubscription)

export const deliveryStatuses = ["queued", "sending", "succeeded", "failed"] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * A webhook delivery, guide/webhooks.md#the-delivery-log: one for each event and subscription; `attempt_no` is the last
 * attempt.
 */
export const Delivery = Wire.struct({
  id: Field.uuid(Id.DeliveryId, "The delivery."),
  subscriptionId: Field.idOrNull("sub", "Null: the failover URL."),
  eventId: Field.uuid(Id.EventId, "The event, as its receiver is told."),
  eventType: Field.text("The event's name.", "call.ended"),
  attemptNo: Field.count("Of the last attempt; 0 before the first.", 1),
  status: Field.oneOf("Between attempts a delivery is `queued`.", deliveryStatuses),
  responseStatusCode: Schema.NullOr(Schema.Int).annotate({
    description: "What the target answered last; null: nothing.",
    examples: [503]
  }),
  responseBodySnippet: Field.textOrNull(
    "The beginning of that answer's body. A compressed one is shown decoded, or named where it cannot be decoded.",
    "busy"
  ),
  errorMessage: Field.textOrNull(
    "Why it failed: of the last attempt, or that a newer event has overtaken it; null when it did not.",
    "HTTP 503"
  ),
  sentAt: Field.timeOrNull("When the last attempt began.", "2026-01-01T00:00:00.000Z"),
  nextRetryAt: Field.timeOrNull("When it is tried again; null: not any more.", "2026-01-01T00:00:30.000Z"),
  createdAt: Field.time("When the event was committed.")
}).pipe(Schema.annotateEncoded({ identifier: "WebhookDelivery" }))
export type DeliveryView = typeof Delivery.Encoded
/** Times in epoch milliseconds. */
export type DeliveryRow = typeof Delivery.Type

export const delivery = Wire.encoder(Delivery)

/** The states in which a delivery may be requested again. */
export const redeliverable = ["failed", "succeeded"] as const

/** A redelivery of a subscription's deliveries, guide/webhooks.md#redelivery. */
export const Redelivery = Wire.struct({
  subscriptionId: Field.id("sub", "The subscription."),
  createdAfter: Field.timeOrNull("Deliveries of events after this moment; null: all that are kept.", null),
  createdBefore: Field.time("And before this one."),
  status: Field.oneOf("Deliveries that ended so.", redeliverable)
}).pipe(Schema.annotateEncoded({ identifier: "WebhookRedelivery" }))

export const redelivery = Wire.encoder(Redelivery)
