import type { Acting } from "../../runtime/audit/Audit.ts"
import type { ApiKeyId, TenantId, UserId } from "../../domain/Id.ts"
import * as Credential from "./Credential.ts"

/** A key that was found and compared once. Only its last use changes. */
export interface VerifiedKey {
  readonly id: ApiKeyId
  readonly tenantId: TenantId
  readonly name: string
  /** The key's scopes, at most those of its member's role. */
  readonly scopes: ReadonlyArray<string>
  /** Null when it has no member. */
  readonly member: Acting | null
  readonly expiresAt: number | null
  /** The last time at which `last_used_at` was written, on the monotonic clock; -Infinity for never. */
  usedAt: number
}

/**
 * Verified credentials in memory, at most `capacity`. Beyond that the oldest is forgotten, and verified again later.
 *
 * A row that was read before a revocation is not remembered after it: `remember` takes the `generation` from before the
 * read, and does nothing when a key was revoked, or a member changed, since then.
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
    forgetOfTenant: (tenantId: TenantId): void => {
      generation++
      for (const key of byFingerprint.values()) if (key.tenantId === tenantId) forget(key.id)
    },
    /** Forgets the keys of a member, so that their scopes are looked up again. */
    forgetOf: (memberId: UserId): void => {
      generation++
      for (const { id, member } of byFingerprint.values()) if (member?.id === memberId) forget(id)
    }
  }
}
