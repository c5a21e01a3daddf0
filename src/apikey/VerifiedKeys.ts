import type { ApiKeyId, TenantId } from "../domain/Id.ts"
import * as Credential from "./Credential.ts"

/** A key that was found and compared once; only its time and its last use change. */
export interface VerifiedKey {
  readonly id: ApiKeyId
  readonly tenantId: TenantId
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly expiresAt: number | null
  /** When `last_used_at` was last written, on the monotonic clock; -Infinity: never. */
  usedAt: number
}

/**
 * Verified credentials, in memory: at most `capacity`; beyond that the oldest is forgotten, and verified again.
 *
 * A row that was read before a revocation is not remembered after it: `remember` takes the `generation` from before the
 * read, and does nothing when a key was revoked since.
 */
export const make = (capacity: number) => {
  const byFingerprint = new Map<string, VerifiedKey>()
  const fingerprints = new Map<ApiKeyId, string>()
  let generation = 0
  const forget = (keyId: ApiKeyId) => {
    const fingerprint = fingerprints.get(keyId)
    if (fingerprint === undefined) return
    fingerprints.delete(keyId)
    byFingerprint.delete(fingerprint)
  }
  return {
    find: (credential: string): VerifiedKey | null => byFingerprint.get(Credential.fingerprint(credential)) ?? null,
    generation: () => generation,
    remember: (credential: string, key: VerifiedKey, since: number): void => {
      if (since !== generation) return
      if (byFingerprint.size >= capacity)
        for (const oldest of byFingerprint.values()) {
          forget(oldest.id)
          break
        }
      const fingerprint = Credential.fingerprint(credential)
      byFingerprint.set(fingerprint, key)
      fingerprints.set(key.id, fingerprint)
    },
    revoke: (keyId: ApiKeyId): void => {
      generation++
      forget(keyId)
    }
  }
}
