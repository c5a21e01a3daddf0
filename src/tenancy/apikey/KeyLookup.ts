import { Clock, Effect, Queue } from "effect"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import type * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as Role from "../../domain/Role.ts"
import type { ApiKeyRepo } from "./ApiKeyRepo.ts"
import * as Credential from "./Credential.ts"
import * as VerifiedKeys from "./VerifiedKeys.ts"

const crowded = ApiError.of("service_unavailable", "too many new keys are being looked up; try again")
export const unauthorized = ApiError.of("invalid_credentials", "the API key is unknown, revoked or expired")

/** `last_used_at` is written at most once in this time for a key. */
const usedEveryMs = 60_000

/** Recognizes keys, from memory after the first time (`remembered` keys). Changes of a key are reported here. */
export const make = Effect.fnUntraced(function* (repo: Pick<ApiKeyRepo, "byPrefix" | "used">, remembered: number) {
  const verified = VerifiedKeys.make(remembered)
  const verifiers = FairSemaphore.make(Policies.newKeys)

  const uses = yield* Queue.sliding<{ readonly id: Id.ApiKeyId; readonly at: number; readonly ip: string | null }>(1024)
  yield* Supervised.fork(
    "the writer of key uses",
    Queue.take(uses).pipe(
      Effect.flatMap(({ at, id, ip }) =>
        Effect.ignore(repo.used(id, at, ip), { log: "Warn", message: "the last use of an API key was not stored" })
      ),
      Effect.forever
    )
  )

  const verify = Effect.fn("ApiKeys.verify")(function* (credential: string) {
    const since = verified.generation()
    const candidates = yield* repo.byPrefix(Credential.prefixOf(credential))
    const row = candidates.find((candidate) => Credential.matches(credential, candidate))
    if (row === undefined || row.revokedAt !== null) return yield* unauthorized
    const { member } = row
    // The key's member is gone or disabled.
    if (row.memberId !== null && member === null) return yield* unauthorized
    const usedAgoMs =
      row.lastUsedAt === null ? Infinity : Math.max(0, (yield* Clock.currentTimeMillis) - row.lastUsedAt)
    const key: VerifiedKeys.VerifiedKey = {
      ...row,
      scopes: member === null ? row.scopes : Role.within(row.scopes, member.role),
      usedAt: (yield* Monotonic.now) - usedAgoMs
    }
    verified.remember(credential, key, since)
    return key
  })

  /** `ip` is the address of the request's client. */
  const authenticate = Effect.fnUntraced(function* (
    credential: string,
    ip: string | null
  ): Effect.fn.Return<Audit.Caller, ApiError> {
    if (!Credential.isForm(credential)) return yield* unauthorized
    const key =
      verified.find(credential) ??
      (yield* verify(credential).pipe(
        verifiers.within(IpAddress.site(ip)),
        Effect.catchTag("NoCapacity", () => Effect.fail(crowded))
      ))
    const now = yield* Clock.currentTimeMillis
    if (key.expiresAt !== null && key.expiresAt <= now) return yield* unauthorized
    const elapsed = yield* Monotonic.now
    if (elapsed - key.usedAt >= usedEveryMs) {
      key.usedAt = elapsed
      Queue.offerUnsafe(uses, { id: key.id, at: now, ip })
    }
    return { tenantId: key.tenantId, keyId: key.id, name: key.name, scopes: key.scopes, member: key.member, ip }
  })

  return {
    authenticate,
    /** The key is not accepted any more. */
    revoked: verified.revoke,
    /** The keys of the tenant are looked up again. */
    forgetOfTenant: verified.forgetOfTenant,
    /** The keys of the member are looked up again. */
    forgetOf: verified.forgetOf
  } as const
})
