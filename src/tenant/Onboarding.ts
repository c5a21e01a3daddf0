import { Context, type Effect } from "effect"
import type { ApiKeyId, TenantId } from "../domain/Id.ts"
import type { AuditRow, EntityWrite, MoneyRow } from "../store/Journal.ts"

/** A tenant being signed up: its row exists in the transaction, nothing else does yet. */
interface NewTenant {
  readonly id: TenantId
  readonly at: number
  /** The seed of the signup; the ids of what is made for the tenant are derived from it. */
  readonly seed: string
}

/** What signup's one commit holds besides the tenant itself. */
interface Opened {
  readonly account: EntityWrite
  readonly money: ReadonlyArray<MoneyRow>
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
    /** Lifts a suspension for a missing verification, and no other. */
    readonly verified: (tenantId: TenantId) => Effect.Effect<void>
    /** Suspends an active tenant for a missing verification. */
    readonly unverified: (tenantId: TenantId) => Effect.Effect<void>
  }
>()("trunkline/tenant/Onboarding") {}
