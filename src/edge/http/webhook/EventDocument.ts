import { Schema } from "effect"
import * as Envelope from "../../../domain/event/Envelope.ts"
import { catalogue, type EventType, eventTypes } from "../../../domain/event/EventCatalogue.ts"
import { DeliveryAttempt, RetryPolicy, Snippet } from "../../../webhook/Webhook.ts"

/** The events in the published document: the requests that a webhook's receiver gets, and what its answers mean. */

const spoken = (ms: number): string =>
  ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`

export const tag = {
  name: "Events",
  description: [
    "Each event is sent as a POST to the `target_url` of every active subscription that lists its name or `*`. Delivery " +
      "is at least once, and a retry may come after later events: deduplicate by `event_id`, put a call's events in " +
      "order by `sequence`, and ignore fields that you do not know.",
    "**Signature.** `X-Webhook-Signature` is `sha256=` and the lower-case hex HMAC-SHA256, keyed by the signing secret " +
      "(all of it, `whsec_` included), of the bytes `<X-Webhook-Timestamp>.` followed by the raw body. Compute it over " +
      "the bytes as they came, not over JSON that was parsed and written again; compare in constant time; refuse a " +
      "timestamp that is more than 300 seconds from now. Each attempt is signed anew, its body stays the same. What " +
      "goes to the failover URL is signed with the failover secret.",
    `**Answers.** 2xx within ${spoken(DeliveryAttempt.timeoutMs)} is success. 4xx ends the delivery as failed, but ` +
      "408, 425 and 429 with `Retry-After` are tried again after it. 5xx, a redirect (it is not followed), no answer in " +
      "time and every transport error are tried again, each attempt so long after the one " +
      `before: ${RetryPolicy.schedule.map(spoken).join(", ")}. After attempt ${RetryPolicy.schedule.length + 1} the delivery is failed, and stays ` +
      "in the delivery log."
  ].join("\n\n")
} as const

const header = (name: string, description: string, schema: Readonly<Record<string, unknown>>, example: unknown) => ({
  [name]: { name, in: "header", required: true, description, schema, example }
})

/** The headers sent with a body; the body's media type gives `Content-Type`. */
export const parameters = {
  ...header(
    "X-Webhook-Signature",
    "`sha256=` and the hex HMAC-SHA256 of `<timestamp>.<raw body>` under the signing secret.",
    { type: "string", pattern: "^sha256=[0-9a-f]{64}$" },
    `sha256=${"0123456789abcdef".repeat(4)}`
  ),
  ...header("X-Webhook-Timestamp", "When this attempt was signed, Unix seconds.", { type: "integer" }, 1_767_225_600),
  ...header(
    "X-Webhook-Event-Id",
    "The `event_id`, to deduplicate by.",
    { type: "string", format: "uuid" },
    "0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d"
  ),
  ...header("User-Agent", "This service and its version.", { type: "string" }, "webhook-platform/0.1.0")
}

const responses = {
  "2XX": {
    description: `Received. The first ${Snippet.bytes} bytes of the body are kept in the delivery log.`
  },
  "4XX": {
    description: "Refused: the delivery is failed and not tried again, except 408, 425 and 429 with `Retry-After`."
  },
  default: { description: "Tried again later." }
}

/** `call.gather_complete` is `CallGatherCompleteEvent` among the document's schemas. */
const componentOf = (type: EventType): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

const operationOf = (type: EventType) => ({
  post: {
    tags: [tag.name],
    operationId: type,
    summary: type,
    description: catalogue[type].when,
    security: [],
    parameters: Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${componentOf(type)}` },
          example: Envelope.example(type)
        }
      }
    },
    responses
  }
})

/** One webhook for each event, by its name. */
export const webhooks = Object.fromEntries(eventTypes.map((type) => [type, operationOf(type)]))

/** The bodies of events. They are open, because a receiver ignores unknown fields. */
export const schemas = Object.fromEntries(
  eventTypes.map((type) => [componentOf(type), Schema.toJsonSchemaDocument(Envelope.schemaOf(type)).schema])
)
