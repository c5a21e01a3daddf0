import { Effect, Schema } from "effect"
import { ApiKeys } from "../../../tenancy/apikey/ApiKey.ts"
import * as Id from "../../../domain/Id.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "./TenantReference.ts"

const listLimit = 1_000

/** guide/operation.md#keys-and-numbers. */
export const commands = [
  Command.make("key list", {
    summary: "lists the newest 1,000 API keys of a tenant, revoked ones too",
    input: { tenant: TenantReference.argument },
    columns: "id prefix created_at last_used_at last_used_ip expires_at revoked_at name scopes",
    run: TenantReference.within(
      Effect.fnUntraced(function* (id) {
        const { results } = yield* (yield* ApiKeys).list(id, { limit: listLimit, offset: 0 })
        return { results }
      })
    )
  }),
  Command.make("key issue", {
    summary: "makes an API key for a tenant, and shows it once",
    input: {
      tenant: TenantReference.argument,
      name: Flag.of(Flag.name(120), "what the tenant sees it as", { value: "TEXT" }),
      scopes: Flag.optional(Schema.Array(Schema.String), "what it may do, as calls:read,calls:write; all unless given"),
      expires: Flag.optionalTime("when it ends, as 2027-01-31T12:00:00Z")
    },
    run: TenantReference.within((tenantId, { expires: expiresAtMs = null, name, scopes = ["*"] }) =>
      ApiKeys.use((keys) => keys.issue(tenantId, { name, scopes, expiresAtMs }))
    )
  }),
  Command.make("key revoke", {
    summary: "revokes an API key for good; its next request is refused",
    input: {
      tenant: TenantReference.argument,
      id: Flag.argument("key id", Id.ApiKeyId, "the key, as key list shows it")
    },
    run: TenantReference.within((tenantId, { id }) => ApiKeys.use((keys) => keys.revokeByOperator(tenantId, id)))
  })
]
