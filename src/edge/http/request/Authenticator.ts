import { Context, type Effect } from "effect"
import type { ApiKeyId, TenantId, UserId } from "../../../domain/Id.ts"
import type { ApiError } from "../../../domain/ApiError.ts"

/** The authenticated caller. */
export class CurrentKey extends Context.Service<
  CurrentKey,
  {
    /** UUID of the API key's record. */
    readonly keyId: ApiKeyId
    readonly tenantId: TenantId
    readonly scopes: ReadonlyArray<string>
    readonly name: string
    /** The member whose key it is; null for a key of the tenant itself. */
    readonly member: {
      readonly id: UserId
      readonly name: string
      readonly role: string
      readonly isLogin: boolean
    } | null
    /** The caller's address, resolved by `ClientAddress`. */
    readonly ip: string | null
  }
>()("trunkline/http/CurrentKey") {}

/**
 * The edge's port for credentials, implemented by the `apikey` feature. It is called on every request and is cheap by
 * contract: it answers from memory, and sees a revocation at once.
 */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    /** `credential` follows `Bearer `. Fails with `invalid_credentials` when it is unknown, revoked or expired. */
    readonly authenticate: (credential: string, ip: string | null) => Effect.Effect<CurrentKey["Service"], ApiError>
    readonly tenantStatus: (tenantId: TenantId) => Effect.Effect<"active" | "suspended" | "closed">
  }
>()("trunkline/http/Authenticator") {}
