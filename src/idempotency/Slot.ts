import type { Receipt } from "../store/Journal.ts"

/**
 * The place that an Idempotency-Key reserves for the first response (spec §4.1, decisions C51, C52).
 *
 * Whoever commits the effect puts `receipt(slot, …)` into the same commit. Null slots come from requests without a key.
 */
export interface Slot {
  /** API key id, or `email:` and the lower-cased address at signup (decision C53). */
  readonly owner: string
  readonly key: string
  readonly method: string
  readonly path: string
  /** SHA-256 of the raw body bytes, hex. */
  readonly bodyHash: string
}

/** A response as it leaves: the stored bytes and the sent bytes are the same. */
export interface Rendered {
  readonly status: number
  /** JSON text; null for 204. */
  readonly body: string | null
}

export const receipt = (slot: Slot | null, rendered: Rendered, at: number): Receipt | null =>
  slot === null ? null : { ...slot, ...rendered, sealed: false, at }
