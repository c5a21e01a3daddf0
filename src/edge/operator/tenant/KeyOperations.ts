import { Effect, Schema } from "effect"
import { ApiKeys } from "../../../tenancy/apikey/ApiKey.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

/** At most so many are listed; the newest come first. */
const listLimit = 1_000

/** `key list`, `issue`, `revoke`, guide/operation.md#keys-and-numbers. */
export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tenants = yield* Tenants

  const expiryOf = (text: string | undefined) => {
    if (text === undefined) return Effect.succeed(null)
    const at = Timestamp.parse(text)
    return at === null
      ? Effect.fail(ApiError.of("invalid_request", `expires must be an RFC 3339 timestamp, not ${text}`))
      : Effect.succeed(at)
  }

  return [
    Operation.make(
      "key/list",
      Schema.Struct({ tenant: Operation.TenantRef }),
      Effect.fnUntraced(function* ({ tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        const { results } = yield* keys.list(id, { limit: listLimit, offset: 0 })
        return { results }
      })
    ),
    Operation.make(
      "key/issue",
      Schema.Struct({
        tenant: Operation.TenantRef,
        name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(120)),
        scopes: Schema.optionalKey(Schema.Array(Schema.String)),
        expires: Schema.optionalKey(Schema.String)
      }),
      Effect.fnUntraced(function* ({ expires, name, scopes = ["*"], tenant }) {
        const { id } = yield* tenants.findByReference(tenant)
        return yield* keys.issue(id, { name, scopes, expiresAtMs: yield* expiryOf(expires) })
      })
    ),
    Operation.make(
      "key/revoke",
      Schema.Struct({ tenant: Operation.TenantRef, id: Id.ApiKeyId }),
      Effect.fnUntraced(function* ({ id, tenant }) {
        return yield* keys.revokeByOperator((yield* tenants.findByReference(tenant)).id, id)
      })
    )
  ]
})
