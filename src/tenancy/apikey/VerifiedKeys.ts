import type { Acting } from "../../runtime/audit/Audit.ts"
import type { ApiKeyId, TenantId, UserId } from "../../domain/Id.ts"
import * as Credential from "./Credential.ts"

/** A key that was found and compared once; only its time and its last use change. */
export interface VerifiedKey {
  readonly id: ApiKeyId
  readonly tenantId: TenantId
  readonly name: string
  /** What it may do: at most what its member's role allows. */
  readonly scopes: ReadonlyArray<string>
  /** Null: it is nobody's. */
  readonly member: Acting | null
  readonly expiresAt: number | null
  /** When `last_used_at` was last written, on the monotonic clock; -Infinity: never. */
  usedAt: number
}

/**
 * Verified credentials, in memory: at most `capacity`; beyond that the oldest is forgotten, and verified again.
 *
 * A row that was read before a revocation is not remembered after it: `remember` takes the `generation` from before the
 * read, and does nothing when a key was revoked, or a
 * member changed, since.
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
    },
    /** Forgets the keys of a member: what they may do is looked up again. */
    forgetOf: (memberId: UserId): void => {
      generation++
      for (const { id, member } of byFingerprint.values()) if (member?.id === memberId) forget(id)
    }
  }
}
