import { createHmac, hash } from "node:crypto"
import type { Receipt } from "../store/journal/Journal.ts"
import * as Vault from "../store/vault/Vault.ts"

/**
 * The place that an Idempotency-Key reserves for the first response, guide/idempotency.md#which-requests.
 *
 * Whoever commits the effect puts `receipt(slot, …)` into the same commit. Null slots come from requests without a key.
 * Nothing of it can be turned back into the key, the credential or the body.
 */
export interface Slot {
  /** API key id, or `email:` and the lower-cased address at signup. */
  readonly owner: string
  /** SHA-256 of the Idempotency-Key, hex. */
  readonly key: string
  readonly method: string
  /** Without a trailing slash, without the query. */
  readonly path: string
  /** HMAC-SHA256 of the raw body bytes under the Idempotency-Key, hex. */
  readonly bodyHash: string
  /** 32 bytes that only a request with the same credential and Idempotency-Key can derive again; kept nowhere. */
  readonly sealKey: () => Uint8Array
}

/** A response as it leaves: the stored bytes and the sent bytes are the same. */
export interface Rendered {
  readonly status: number
  /** JSON text; null for 204. */
  readonly body: string | null
}

/** A receipt is good for this long; readers ignore older ones, and retention deletes them. */
export const windowMs = 24 * 3_600_000

export const make = (request: {
  readonly owner: string
  /** The secret in the request: the API key, or at signup the body, which holds the password. */
  readonly credential: string | Uint8Array
  readonly idempotencyKey: string
  readonly method: string
  readonly path: string
  /** Its bytes, or what `bodyHash` made of them. */
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
 * The receipt of a response whose body holds a secret (a new API key, a signing secret): AES-256-GCM under the slot's
 * own key. So only a request with the same credential and Idempotency-Key reads it again. `nonce`: 12 random bytes.
 */
export const sealedReceipt = (slot: Slot | null, rendered: Rendered, at: number, nonce: Uint8Array): Receipt | null =>
  slot === null
    ? null
    : rendered.body === null
      ? row(slot, rendered.status, null, false, at)
      : row(slot, rendered.status, Vault.seal(slot.sealKey(), nonce, rendered.body), true, at)

/** The response that a receipt holds; dies when it was sealed for somebody else. */
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
