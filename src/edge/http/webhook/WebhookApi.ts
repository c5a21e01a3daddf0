import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import { eventTypes } from "../../../domain/event/EventCatalogue.ts"
import { WebhookView } from "../../../webhook/Webhook.ts"
import { requiredAs } from "../../../domain/schema/CodedCheck.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import { Authenticated } from "../request/Authenticated.ts"
import { endpoints, noBody } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import * as Query from "../request/Query.ts"
import * as Text from "../request/Text.ts"
import { body, of, only, optional } from "../../../domain/schema/RequestField.ts"

/** Webhook subscriptions and deliveries, guide/webhooks.md. */

const { get, list, patch, post, remove } = endpoints({ reads: "webhooks:read", writes: "webhooks:write" })

const params = { id: PathId.prefixed("sub", "subscription_not_found").annotate({ description: "The subscription." }) }

const fields = {
  targetUrl: Text.httpsUrl("Where the events go.", "https://example.com/hooks"),
  eventTypes: of(
    Schema.Array(Schema.String),
    `At least one; \`*\` is all. Names: ${eventTypes.map((name) => `\`${name}\``).join(", ")}.`,
    ["call.answered", "call.ended"]
  ),
  description: of(Schema.NullOr(Text.of(0, 200)), "To know it by.", "call log"),
  connectionId: of(
    Schema.NullOr(PathId.prefixed("route")),
    "A route id: only events of its calls. Null: all of the workspace.",
    null
  )
}

const errors: ReadonlyArray<Code> = ["invalid_target_url", "event_types_required", "not_found"]
const unknown: ReadonlyArray<Code> = ["subscription_not_found"]

export class WebhookApi extends HttpApiGroup.make("webhooks")
  .add(
    post("create", "/v1/webhook-subscriptions", "Subscribe a target to events", {
      payload: body("CreateWebhookSubscription", {
        targetUrl: fields.targetUrl,
        eventTypes: requiredAs("event_types_required", fields.eventTypes),
        description: Wire.absentIs(null, fields.description),
        connectionId: Wire.absentIs(null, fields.connectionId)
      }),
      success: WebhookView.CreatedSubscription.pipe(HttpApiSchema.status(201)),
      description: "The only answer that holds the signing secret.",
      errors
    }),
    list("list", "/v1/webhook-subscriptions", "List subscriptions", WebhookView.Subscription),
    get("retrieve", "/v1/webhook-subscriptions/:id", "Retrieve a subscription", {
      params,
      success: WebhookView.Subscription,
      errors: unknown
    }),
    patch("update", "/v1/webhook-subscriptions/:id", "Change a subscription", {
      params,
      payload: body("UpdateWebhookSubscription", {
        targetUrl: Schema.optionalKey(fields.targetUrl),
        eventTypes: Schema.optionalKey(fields.eventTypes),
        description: Schema.optionalKey(fields.description),
        connectionId: Schema.optionalKey(fields.connectionId),
        isActive: optional(Schema.Boolean, "False: it gets nothing, and what waits for it fails.", true)
      }),
      success: WebhookView.Subscription,
      description: "Fields left out stay. Deliveries that wait for a subscription that becomes inactive fail.",
      errors: [...errors, ...unknown]
    }),
    remove("remove", "/v1/webhook-subscriptions/:id", "Delete a subscription", {
      params,
      description: "Deliveries that wait for it fail; the delivery log keeps them.",
      errors: unknown
    }),
    get("secret", "/v1/webhook-subscriptions/:id/signing-secret", "Read the signing secret", {
      params,
      success: Schema.Json,
      description: "Always 404: a secret is shown once. Delete the subscription and create it again.",
      errors: ["signing_secret_unavailable", ...unknown],
      alwaysRefuses: true
    }),
    post("redeliverRange", "/v1/webhook-subscriptions/:id/redeliver", "Make deliveries again", {
      params,
      payload: body(
        "RedeliverWebhooks",
        {
          createdAfterMs: Schema.optionalKey(Query.timestamp("Only deliveries of events after this moment.")),
          createdBeforeMs: Schema.optionalKey(
            Query.timestamp("Only those before this one; now, where it is left out.")
          ),
          status: Wire.absentIs(
            "failed",
            Schema.Literals(WebhookView.redeliverable).annotate({
              description: "Deliveries that ended so.",
              examples: ["failed"]
            })
          )
        },
        { createdAfterMs: "created_after", createdBeforeMs: "created_before" }
      ),
      success: WebhookView.Redelivery.pipe(HttpApiSchema.status(202)),
      description: "The finished deliveries of this range, oldest first, portion by portion: one range at a time.",
      errors: [...unknown, "conflict"]
    }),
    post("test", "/v1/webhook-subscriptions/:id/test", "Send a test", {
      params,
      payload: noBody,
      success: WebhookView.Delivery.pipe(HttpApiSchema.status(202)),
      description: "A `webhook.test` goes to this subscription alone, whatever types it lists.",
      errors: [...unknown, "conflict"]
    }),
    list("deliveries", "/v1/webhook-deliveries", "List deliveries", WebhookView.Delivery, {
      filters: {
        subscriptionId: only(PathId.filter("sub"), "Only of this subscription."),
        status: only(Schema.Literals(WebhookView.deliveryStatuses), "Only with this status."),
        eventType: only(Schema.Literals(eventTypes), "Only of this event."),
        callId: only(PathId.filter("call"), "Only of events of this call, and of conferences that name it."),
        createdAfterMs: Schema.optionalKey(Query.timestamp("Only those created after this moment."))
      },
      names: { createdAfterMs: "created_after" },
      description: "Newest first; one row for each event and subscription."
    }),
    post("redeliver", "/v1/webhook-deliveries/:id/redeliver", "Make a delivery again", {
      params: { id: PathId.delivery.annotate({ description: "The delivery." }) },
      payload: noBody,
      success: WebhookView.Delivery.pipe(HttpApiSchema.status(202)),
      description: "The same body, with all attempts before it. A delivery that has not finished stays as it is.",
      errors: ["not_found", "conflict"]
    })
  )
  .middleware(Authenticated)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Events, pushed to your targets and signed; what became of each."
    })
  ) {}
