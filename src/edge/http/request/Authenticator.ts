import { Context, type Effect } from "effect"
import type { ApiKeyId, TenantId, UserId } from "../../../domain/Id.ts"
import type { ApiError } from "../../../domain/ApiError.ts"

/** Who calls, after authentication. */
export class CurrentKey extends Context.Service<
  CurrentKey,
  {
    /** UUID of the API key's record. */
    readonly keyId: ApiKeyId
    readonly tenantId: TenantId
    readonly scopes: ReadonlyArray<string>
    readonly name: string
    /** The person whose key it is; null: a key of the tenant's own. */
    readonly member: {
      readonly id: UserId
      readonly name: string
      readonly role: string
      readonly isLogin: boolean
    } | null
    /** The caller's address as `ClientAddress` knows it. */
    readonly ip: string | null
  }
>()("trunkline/http/CurrentKey") {}

/**
 * What the edge asks about a credential; the `apikey` feature answers. It is asked on every request and is cheap by
 * contract: it answers from memory, and sees a revocation at once.
 */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    /** `credential`: what stood behind `Bearer `. Fails with `invalid_credentials`: unknown, revoked or expired. */
    readonly authenticate: (credential: string, ip: string | null) => Effect.Effect<CurrentKey["Service"], ApiError>
    readonly tenantStatus: (tenantId: TenantId) => Effect.Effect<"active" | "suspended" | "closed">
  }
>()("trunkline/http/Authenticator") {}
