import { createHmac } from "node:crypto"
import type { EventId } from "../../domain/Id.ts"

/**
 * The signature, guide/webhooks.md#signature: `sha256=` and the lower-case hex HMAC-SHA256, keyed by the whole signing
 * secret (`whsec_` included, as UTF-8), of `<timestamp>.` and the exact body.
 *
 * `timestamp` is in Unix seconds.
 */
export const sign = (secret: string, timestamp: number, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`

/** The headers of one attempt. Timestamp and signature are made for each attempt, the body only once. */
export const headers = (delivery: {
  readonly secret: string
  readonly eventId: EventId
  readonly body: string
  readonly now: number
  /** The version of this service, for `User-Agent`. */
  readonly version: string
}): Readonly<Record<string, string>> => {
  const timestamp = Math.floor(delivery.now / 1000)
  return {
    "Content-Type": "application/json",
    "User-Agent": `webhook-platform/${delivery.version}`,
    "X-Webhook-Event-Id": delivery.eventId,
    "X-Webhook-Timestamp": String(timestamp),
    "X-Webhook-Signature": sign(delivery.secret, timestamp, delivery.body)
  }
}

/** `whsec_` and 43 characters of base64url from 32 unpredictable bytes. */
export const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString("base64url")}`
