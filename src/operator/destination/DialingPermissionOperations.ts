import { Clock, Effect, Schema } from "effect"
import { DialingPermissions, type Rule, type RuleKind } from "../../account/DialingPermissions.ts"
import { Entropy } from "../../actor/Entropy.ts"
import * as Audit from "../../audit/Audit.ts"
import { DialingRuleId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { empty, Journal } from "../../store/Journal.ts"
import { Tenants } from "../../tenant/Tenant.ts"
import * as Operation from "../Operation.ts"

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
  const journal = yield* Journal
  const entropy = yield* Entropy

  const tenantId = (ref: string | undefined) =>
    ref === undefined ? Effect.succeed(null) : Effect.map(tenants.findByReference(ref), ({ id }) => id)

  /**
   * A rule of a tenant goes into that tenant's audit log. A rule for everybody belongs to no audit log, and goes to the
   * service's log.
   */
  const record = Effect.fnUntraced(function* (rule: Rule, action: "added" | "removed") {
    if (rule.tenantId === null) return yield* Effect.logInfo(`destination rule ${action} by the operator`, view(rule))
    const change = { field: rule.kind, from: null, to: null }
    yield* journal.commit({
      ...empty,
      audit: [
        Audit.line({
          tenantId: rule.tenantId,
          at: yield* Clock.currentTimeMillis,
          seed: entropy.hex(16),
          actor: Audit.operator,
          action: `destination_rule.${action}`,
          resourceType: "destination_rule",
          resourceId: rule.id,
          changes: [action === "added" ? { ...change, to: rule.value } : { ...change, from: rule.value }]
        })
      ]
    })
  })

  const add = (name: keyof typeof kinds) =>
    Operation.make(
      name,
      Schema.Struct({ value: Schema.String, tenant: Schema.optionalKey(Operation.TenantRef) }),
      Effect.fnUntraced(function* ({ tenant, value }) {
        const kind = kinds[name]
        const wanted = {
          kind,
          tenantId: yield* tenantId(tenant),
          value: kind === "country_block" || kind === "country_allow" ? value.toUpperCase() : value
        }
        const same = (rule: Rule) =>
          rule.kind === kind && rule.tenantId === wanted.tenantId && rule.value === wanted.value
        const known = (yield* permissions.list).find(same)
        if (known !== undefined) return view(known)
        const rule = yield* permissions.add(wanted)
        yield* record(rule, "added")
        return view(rule)
      })
    )

  return [
    add("destinations/block-country"),
    add("destinations/allow-country"),
    add("destinations/block-prefix"),
    add("destinations/block-class"),
    Operation.make(
      "destinations/remove",
      Schema.Struct({ id: DialingRuleId }),
      Effect.fnUntraced(function* ({ id }) {
        const rule = (yield* permissions.list).find((each) => each.id === id)
        if (rule === undefined) return yield* ApiError.of("not_found", `no destination rule ${id}`)
        yield* permissions.remove(id)
        yield* record(rule, "removed")
        return view(rule)
      })
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
