import { Effect, Schema } from "effect"
import { DialingPermissions, type Rule, type RuleKind } from "../../../money/account/Account.ts"
import { DialingRuleId } from "../../../domain/Id.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Operation from "../door/Operation.ts"

const kinds = {
  "destinations/block-country": "country_block",
  "destinations/allow-country": "country_allow",
  "destinations/block-prefix": "prefix_block",
  "destinations/block-class": "class_block"
} as const satisfies Readonly<Record<string, RuleKind>>

const view = ({ id, kind, tenantId, value }: Rule) => ({ id, kind, value, tenant_id: tenantId })

/**
 * `destinations block-country`, `allow-country`, `block-prefix`, `block-class`, `remove`, `list`,
 * guide/calls.md#dialing-permissions.
 */
export const make = Effect.gen(function* () {
  const tenants = yield* Tenants
  const permissions = yield* DialingPermissions

  const tenantId = (ref: string | undefined) =>
    ref === undefined ? Effect.succeed(null) : Effect.map(tenants.findByReference(ref), ({ id }) => id)

  const add = (name: keyof typeof kinds) =>
    Operation.make(
      name,
      Schema.Struct({ value: Schema.String, tenant: Schema.optionalKey(Operation.TenantRef) }),
      Effect.fnUntraced(function* ({ tenant, value }) {
        const kind = kinds[name]
        return view(
          yield* permissions.add({
            kind,
            tenantId: yield* tenantId(tenant),
            value: kind === "country_block" || kind === "country_allow" ? value.toUpperCase() : value
          })
        )
      })
    )

  return [
    add("destinations/block-country"),
    add("destinations/allow-country"),
    add("destinations/block-prefix"),
    add("destinations/block-class"),
    Operation.make("destinations/remove", Schema.Struct({ id: DialingRuleId }), ({ id }) =>
      Effect.map(permissions.remove(id), view)
    ),
    Operation.make(
      "destinations/list",
      Schema.Struct({ tenant: Schema.optionalKey(Operation.TenantRef) }),
      Effect.fnUntraced(function* ({ tenant }) {
        const only = yield* tenantId(tenant)
        const rules = yield* permissions.list
        // With a tenant: the rules that hold for it, including those for everybody.
        return {
          results: rules.filter((rule) => only === null || rule.tenantId === null || rule.tenantId === only).map(view)
        }
      })
    )
  ]
})
