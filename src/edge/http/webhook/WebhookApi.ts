import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import { eventTypes } from "../../../domain/event/EventCatalogue.ts"
import { WebhookView } from "../../../webhook/Webhook.ts"
import { requiredAs } from "../../../domain/schema/CodedCheck.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { about, noBody } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"

/** Webhook subscriptions and deliveries, guide/webhooks.md. */

const params = { id: PathId.prefixed("sub", "subscription_not_found").annotate({ description: "The subscription." }) }

const fields = {
  targetUrl: Text.httpsUrl("Where the events go.", "https://example.com/hooks"),
  eventTypes: Schema.Array(Schema.String).annotate({
    description: `At least one; \`*\` is all. Names: ${eventTypes.map((name) => `\`${name}\``).join(", ")}.`,
    examples: [["call.answered", "call.ended"]]
  }),
  description: Schema.NullOr(Text.of(0, 200)).annotate({ description: "To know it by.", examples: ["call log"] }),
  connectionId: Schema.NullOr(PathId.prefixed("route")).annotate({
    description: "A route id: only events of its calls. Null: all of the workspace.",
    examples: [null]
  })
}

const errors: ReadonlyArray<Code> = ["invalid_target_url", "event_types_required", "not_found"]
const unknown: ReadonlyArray<Code> = ["subscription_not_found"]

const create = HttpApiEndpoint.post("create", "/v1/webhook-subscriptions", {
  payload: Wire.struct({
    targetUrl: fields.targetUrl,
    eventTypes: requiredAs("event_types_required", fields.eventTypes),
    description: Wire.absentIs(null, fields.description),
    connectionId: Wire.absentIs(null, fields.connectionId)
  }).pipe(Schema.annotateEncoded({ identifier: "CreateWebhookSubscription" })),
  success: WebhookView.CreatedSubscription.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Subscribe a target to events",
    description: "The only answer that holds the signing secret.",
    scope: "webhooks:write",
    errors
  })
)

const list = HttpApiEndpoint.get("list", "/v1/webhook-subscriptions", {
  query: Pagination.query,
  success: Pagination.envelope(WebhookView.Subscription)
}).annotateMerge(about({ summary: "List subscriptions", scope: "webhooks:read" }))

const retrieve = HttpApiEndpoint.get("retrieve", "/v1/webhook-subscriptions/:id", {
  params,
  success: WebhookView.Subscription
}).annotateMerge(about({ summary: "Retrieve a subscription", scope: "webhooks:read", errors: unknown }))

const update = HttpApiEndpoint.patch("update", "/v1/webhook-subscriptions/:id", {
  params,
  payload: Wire.struct({
    targetUrl: Schema.optionalKey(fields.targetUrl),
    eventTypes: Schema.optionalKey(fields.eventTypes),
    description: Schema.optionalKey(fields.description),
    connectionId: Schema.optionalKey(fields.connectionId),
    isActive: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "False: it gets nothing, and what waits for it fails.", examples: [true] })
    )
  }).pipe(Schema.annotateEncoded({ identifier: "UpdateWebhookSubscription" })),
  success: WebhookView.Subscription
}).annotateMerge(
  about({
    summary: "Change a subscription",
    description: "Fields left out stay. Deliveries that wait for a subscription that becomes inactive fail.",
    scope: "webhooks:write",
    errors: [...errors, ...unknown]
  })
)

const remove = HttpApiEndpoint.delete("remove", "/v1/webhook-subscriptions/:id", {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Delete a subscription",
    description: "Deliveries that wait for it fail; the delivery log keeps them.",
    scope: "webhooks:write",
    errors: unknown
  })
)

const secret = HttpApiEndpoint.get("secret", "/v1/webhook-subscriptions/:id/signing-secret", {
  params,
  success: Schema.Json
}).annotateMerge(
  about({
    summary: "Read the signing secret",
    description: "Always 404: a secret is shown once. Delete the subscription and create it again.",
    scope: "webhooks:read",
    errors: ["signing_secret_unavailable", ...unknown],
    alwaysRefuses: true
  })
)

const deliveries = HttpApiEndpoint.get("deliveries", "/v1/webhook-deliveries", {
  query: Wire.struct(
    {
      subscriptionId: Schema.optionalKey(PathId.filter("sub").annotate({ description: "Only of this subscription." })),
      status: Schema.optionalKey(
        Schema.Literals(WebhookView.deliveryStatuses).annotate({ description: "Only with this status." })
      ),
      eventType: Schema.optionalKey(Schema.Literals(eventTypes).annotate({ description: "Only of this event." })),
      createdAfterMs: Schema.optionalKey(Query.timestamp("Only those created after this moment.")),
      ...Pagination.parameters
    },
    { createdAfterMs: "created_after" }
  ),
  success: Pagination.envelope(WebhookView.Delivery)
}).annotateMerge(
  about({
    summary: "List deliveries",
    description: "Newest first; one row for each event and subscription.",
    scope: "webhooks:read"
  })
)

const redeliver = HttpApiEndpoint.post("redeliver", "/v1/webhook-deliveries/:id/redeliver", {
  params: { id: PathId.delivery.annotate({ description: "The delivery." }) },
  payload: noBody,
  success: WebhookView.Delivery.pipe(HttpApiSchema.status(202))
}).annotateMerge(
  about({
    summary: "Make a delivery again",
    description: "The same body, with all attempts before it. A delivery that has not finished stays as it is.",
    scope: "webhooks:write",
    errors: ["not_found", "conflict"]
  })
)

const redeliverRange = HttpApiEndpoint.post("redeliverRange", "/v1/webhook-subscriptions/:id/redeliver", {
  params,
  payload: Wire.struct(
    {
      createdAfterMs: Schema.optionalKey(Query.timestamp("Only deliveries of events after this moment.")),
      createdBeforeMs: Schema.optionalKey(Query.timestamp("Only those before this one; now, where it is left out.")),
      status: Wire.absentIs(
        "failed",
        Schema.Literals(WebhookView.redeliverable).annotate({
          description: "Deliveries that ended so.",
          examples: ["failed"]
        })
      )
    },
    { createdAfterMs: "created_after", createdBeforeMs: "created_before" }
  ).pipe(Schema.annotateEncoded({ identifier: "RedeliverWebhooks" })),
  success: WebhookView.Redelivery.pipe(HttpApiSchema.status(202))
}).annotateMerge(
  about({
    summary: "Make deliveries again",
    description: "The finished deliveries of this range, oldest first, portion by portion: one range at a time.",
    scope: "webhooks:write",
    errors: [...unknown, "conflict"]
  })
)

const test = HttpApiEndpoint.post("test", "/v1/webhook-subscriptions/:id/test", {
  params,
  payload: noBody,
  success: WebhookView.Delivery.pipe(HttpApiSchema.status(202))
}).annotateMerge(
  about({
    summary: "Send a test",
    description: "A `webhook.test` goes to this subscription alone, whatever types it lists.",
    scope: "webhooks:write",
    errors: [...unknown, "conflict"]
  })
)

export class WebhookApi extends HttpApiGroup.make("webhooks")
  .add(create, list, retrieve, update, remove, secret, redeliverRange, test, deliveries, redeliver)
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Events, pushed to your targets and signed; what became of each."
    })
  ) {}
