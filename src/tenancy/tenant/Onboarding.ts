import { Context, type Effect } from "effect"
import type { ApiKeyId, TenantId, UserId } from "../../domain/Id.ts"
import type { AuditRow, EntityWrite, MoneyRow } from "../../runtime/store/journal/Journal.ts"

/** A tenant during signup. In the transaction its row exists, and nothing else yet. */
interface NewTenant {
  readonly id: TenantId
  readonly at: number
  /** The seed of the signup. The ids of everything that is made for the tenant are derived from it. */
  readonly seed: string
}

/** A tenant that may get its trial credit, in a transaction of the caller. */
interface Trial extends NewTenant {
  /** The identity of the owner's address, as `AddressIdentity` stores it. */
  readonly identity: string
}

/** The parts of signup's only commit besides the tenant itself. */
interface Opened {
  readonly account: EntityWrite
  readonly audit: ReadonlyArray<AuditRow>
  readonly apiKey: {
    readonly id: ApiKeyId
    readonly prefix: string
    readonly scopes: ReadonlyArray<string>
    readonly plaintext: string
  }
}

/**
 * The port through which signup and e-mail verification reach the features above this one. `app/composition` implements
 * it with their doors.
 */
export class Onboarding extends Context.Service<
  Onboarding,
  {
    /** Makes balance, first key and default route inside signup's transaction, so that no incomplete tenant exists. */
    readonly open: (tenant: NewTenant) => Effect.Effect<Opened>
    /** The trial credit; nothing when this identity has had one. */
    readonly trialWithin: (trial: Trial) => Effect.Effect<ReadonlyArray<MoneyRow>>
    /** Lifts a suspension for a missing verification, and no other. The account reads the credit. */
    readonly verified: (tenantId: TenantId) => Effect.Effect<void>
    /**
     * Revokes all keys and logins of the tenant in the caller's transaction, and has its webhook subscriptions disabled
     * after it. Returns the keys.
     */
    readonly endAccessWithin: (tenantId: TenantId, at: number) => Effect.Effect<ReadonlyArray<ApiKeyId>>
    /** Revokes the keys and logins of a member in the caller's transaction, and returns them. */
    readonly endMemberAccessWithin: (
      member: { readonly id: UserId; readonly tenantId: TenantId },
      at: number
    ) => Effect.Effect<ReadonlyArray<ApiKeyId>>
    /** Called after that transaction, so that the next request sees it. */
    readonly accessChanged: (tenantId: TenantId) => Effect.Effect<void>
    /** Suspends an active tenant for a missing verification. */
    readonly unverified: (tenantId: TenantId) => Effect.Effect<void>
  }
>()("trunkline/tenant/Onboarding") {}
