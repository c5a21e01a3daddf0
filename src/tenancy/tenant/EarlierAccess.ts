import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { AuditRow } from "../../runtime/store/journal/Journal.ts"
import type { TenantId, UserId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import * as AddressIdentity from "./AddressIdentity.ts"
import { Onboarding } from "./Onboarding.ts"
import * as TenantRepo from "./TenantRepo.ts"

/** A member who proves now that the address is the member's. */
interface Proof {
  readonly tenantId: TenantId
  readonly memberId: UserId
  readonly at: number
}

/**
 * Ends what lets people and programs into a workspace, and was made before its owner proved the address,
 * guide/authentication.md#earlier-access: a stranger may have signed the address up.
 */
export const make = Effect.gen(function* () {
  const onboarding = yield* Onboarding
  const entropy = yield* Entropy
  const repo = yield* TenantRepo.make

  return {
    /**
     * Confirms the member's address in the caller's transaction, and gives the trial credit. Null: it was confirmed
     * before.
     */
    proveWithin: Effect.fnUntraced(function* ({ at, email, memberId, seed, tenantId }: Proof & ByReset) {
      if (!(yield* repo.prove(memberId, at))) return null
      return { money: yield* onboarding.trialWithin({ id: tenantId, at, seed, identity: AddressIdentity.of(email) }) }
    }),

    /**
     * Ends it in the caller's transaction, and returns the audit lines. For an owner it is all of the workspace: all
     * API keys and logins are revoked, the other members disabled, the pending invitations revoked, the failover URL
     * removed, and the webhook subscriptions disabled soon after. For any other member it is only the member's own
     * keys, logins and invitations.
     */
    endWithin: Effect.fnUntraced(function* ({ at, memberId, tenantId }: Proof, by: Audit.By): Effect.fn.Return<Ended> {
      yield* repo.lock(tenantId)
      const line = (action: string, resourceId: string, changes: Changes = []) =>
        Audit.line({ ...by, tenantId, at, seed: entropy.hex(16), action, resourceId, changes })
      // Read under the lock: an owner may have been demoted since the link was sent.
      if (!(yield* repo.isOwner(memberId))) {
        const keys = yield* onboarding.endMemberAccessWithin({ id: memberId, tenantId }, at)
        const invitations = yield* repo.revokeInvitationsBy(tenantId, memberId)
        return {
          of: "member",
          lines: [
            ...keys.map((id) => line("api_key.revoked", id)),
            ...invitations.map((id) => line("invitation.revoked", id))
          ]
        }
      }
      const members = yield* repo.leaveAlone(tenantId, memberId)
      // Subscriptions that were made while the caller waited for the lock end too.
      const keys = yield* onboarding.endAccessWithin(tenantId, yield* Clock.currentTimeMillis)
      const invitations = yield* repo.revokeInvitations(tenantId)
      const failover = yield* repo.endFailover(tenantId, at)
      return {
        of: "workspace",
        lines: [
          ...keys.map((id) => line("api_key.revoked", id)),
          ...members.map((id) => line("user.updated", id, [{ field: "status", from: "active", to: "disabled" }])),
          ...invitations.map((id) => line("invitation.revoked", id)),
          ...(failover === null
            ? []
            : [
                line("tenant.updated", tenantId, [
                  { field: "webhook_failover_url", from: Secret.maskUrl(failover), to: null }
                ])
              ])
        ]
      }
    }),

    /** Runs after the transaction, whatever became of it: the next request sees what it did. */
    changed: onboarding.accessChanged,
    /** Runs after the transaction that proved the address. */
    verified: onboarding.verified
  } as const
})

interface Ended {
  /** The owner of the access that has ended. */
  readonly of: "workspace" | "member"
  readonly lines: ReadonlyArray<AuditRow>
}

interface ByReset {
  readonly email: string
  readonly seed: string
}

type Changes = NonNullable<Parameters<typeof Audit.line>[0]["changes"]>
