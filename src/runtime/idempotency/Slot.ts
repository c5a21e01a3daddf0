import { createHmac, hash } from "node:crypto"
import type { Receipt } from "../store/journal/Journal.ts"
import * as Vault from "../store/vault/Vault.ts"

/**
 * The place that an Idempotency-Key reserves for the first response, guide/idempotency.md#which-requests.
 *
 * The commit of the request's effect includes `receipt(slot, …)`. A null slot comes from a request without a key. The
 * key, the credential and the body cannot be recovered from a slot.
 */
export interface Slot {
  /** API key id, or `email:` and the lower-cased address at signup. */
  readonly owner: string
  /** SHA-256 of the Idempotency-Key, hex. */
  readonly key: string
  readonly method: string
  /** The path without a trailing slash and without the query. */
  readonly path: string
  /** HMAC-SHA256 of the raw body bytes under the Idempotency-Key, hex. */
  readonly bodyHash: string
  /**
   * Derives 32 bytes that only a request with the same credential and Idempotency-Key can derive again. They are kept
   * nowhere.
   */
  readonly sealKey: () => Uint8Array
}

/** A response as it is sent: the stored bytes and the sent bytes are the same. */
export interface Rendered {
  readonly status: number
  /** JSON text; null for 204. */
  readonly body: string | null
}

/** The time for which a receipt is valid. Readers ignore older ones, and retention deletes them. */
export const windowMs = 24 * 3_600_000

export const make = (request: {
  readonly owner: string
  /** The secret in the request: the API key, or at signup the body, which holds the password. */
  readonly credential: string | Uint8Array
  readonly idempotencyKey: string
  readonly method: string
  readonly path: string
  /** The raw bytes, or their `bodyHash`. */
  readonly body: Uint8Array | string
}): Slot => ({
  owner: request.owner,
  key: hash("sha256", request.idempotencyKey, "hex"),
  method: request.method,
  path: request.path,
  bodyHash: typeof request.body === "string" ? request.body : bodyHash(request.idempotencyKey, request.body),
  sealKey: () => Vault.deriveKey(request.credential, request.idempotencyKey, "trunkline idempotency receipt")
})

/** HMAC-SHA256 of the raw body bytes under the Idempotency-Key, hex. */
export const bodyHash = (idempotencyKey: string, body: Uint8Array): string =>
  createHmac("sha256", idempotencyKey).update(body).digest("hex")

export const receipt = (slot: Slot | null, rendered: Rendered, at: number): Receipt | null =>
  slot === null ? null : row(slot, rendered.status, rendered.body, false, at)

/**
 * The receipt of a response whose body holds a secret (a new API key, a signing secret). It is sealed by AES-256-GCM
 * under the slot's own key, so only a request with the same credential and Idempotency-Key can read it. `nonce`: 12
 * random bytes.
 */
export const sealedReceipt = (slot: Slot | null, rendered: Rendered, at: number, nonce: Uint8Array): Receipt | null =>
  slot === null
    ? null
    : rendered.body === null
      ? row(slot, rendered.status, null, false, at)
      : row(slot, rendered.status, Vault.seal(slot.sealKey(), nonce, rendered.body), true, at)

/** Gives the response in a receipt; dies when the receipt was sealed for another slot. */
export const open = (
  slot: Slot,
  stored: { readonly status: number; readonly body: string | null; readonly sealed: boolean }
): Rendered => ({
  status: stored.status,
  body: stored.sealed && stored.body !== null ? Vault.open(slot.sealKey(), stored.body) : stored.body
})

const row = (slot: Slot, status: number, body: string | null, sealed: boolean, at: number): Receipt => ({
  owner: slot.owner,
  key: slot.key,
  method: slot.method,
  path: slot.path,
  bodyHash: slot.bodyHash,
  status,
  body,
  sealed,
  at
})
