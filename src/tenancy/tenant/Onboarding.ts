import { Context, type Effect } from "effect"
import type { ApiKeyId, TenantId } from "../../domain/Id.ts"
import type { AuditRow, EntityWrite, MoneyRow } from "../../runtime/store/journal/Journal.ts"

/** A tenant being signed up: its row exists in the transaction, nothing else does yet. */
interface NewTenant {
  readonly id: TenantId
  readonly at: number
  /** The seed of the signup; the ids of what is made for the tenant are derived from it. */
  readonly seed: string
}

/** A tenant that may get its trial credit, in a transaction of the caller. */
interface Trial extends NewTenant {
  /** Of the owner's address, as `AddressIdentity` keeps it. */
  readonly identity: string
}

/** What signup's one commit holds besides the tenant itself. */
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

/** What signup and e-mail verification need of the features above this one: their doors, put together in `boot/`. */
export class Onboarding extends Context.Service<
  Onboarding,
  {
    /** Balance, first key, default route; inside signup's transaction, so that there is no half a tenant. */
    readonly open: (tenant: NewTenant) => Effect.Effect<Opened>
    /** The trial credit; nothing where this identity has had one. */
    readonly trialWithin: (trial: Trial) => Effect.Effect<ReadonlyArray<MoneyRow>>
    /** Lifts a suspension for a missing verification, and no other; what was credited is there from now on. */
    readonly verified: (tenantId: TenantId) => Effect.Effect<void>
    /** Suspends an active tenant for a missing verification. */
    readonly unverified: (tenantId: TenantId) => Effect.Effect<void>
  }
>()("trunkline/tenant/Onboarding") {}
