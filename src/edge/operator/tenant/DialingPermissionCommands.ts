import { Effect, Schema } from "effect"
import { DialingPermissions, type Rule, type RuleKind } from "../../../money/account/Account.ts"
import { DialingRuleId } from "../../../domain/Id.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as TenantReference from "./TenantReference.ts"

const view = (rule: Rule) => Shown.of(rule, "id kind value tenantId")

const add = (verb: string, kind: RuleKind, summary: string, value: string, description: string) =>
  Command.make(`destinations ${verb}`, {
    summary,
    input: { value: Flag.argument(value, Schema.String, description), tenant: TenantReference.optional },
    run: Effect.fnUntraced(function* ({ tenant, value }) {
      const tenantId = yield* TenantReference.idOrNull(tenant)
      const isCountry = kind === "country_block" || kind === "country_allow"
      const rule = { kind, tenantId, value: isCountry ? value.toUpperCase() : value }
      return view(yield* (yield* DialingPermissions).add(rule))
    })
  })

const country = ["country", "an ISO 3166 code"] as const

/** guide/calls.md#dialing-permissions. */
export const commands = [
  add(
    "block-country",
    "country_block",
    "refuses calls to a country (ISO 3166 code), for all tenants or for one",
    ...country
  ),
  add("allow-country", "country_allow", "refuses calls to every country but those allowed", ...country),
  add(
    "block-prefix",
    "prefix_block",
    "refuses calls to numbers that begin so (E.164 with its +)",
    "prefix",
    "the first digits, with the +"
  ),
  add(
    "block-class",
    "class_block",
    "refuses calls to a class of numbers: satellite, premium_rate, shared_cost, or unknown (in no numbering plan)",
    "class",
    "satellite, premium_rate, shared_cost or unknown"
  ),
  Command.make("destinations remove", {
    summary: "takes one rule away",
    input: { id: Flag.argument("id", DialingRuleId, "the rule, as destinations list shows it") },
    run: ({ id }) => DialingPermissions.use((permissions) => Effect.map(permissions.remove(id), view))
  }),
  Command.make("destinations list", {
    summary: "lists the rules; with a tenant, those that hold for it",
    input: { tenant: TenantReference.optional },
    columns: "id kind value tenant_id",
    run: Effect.fnUntraced(function* ({ tenant }) {
      const only = yield* TenantReference.idOrNull(tenant)
      const rules = yield* (yield* DialingPermissions).list
      // The rules for all tenants hold for each of them.
      return {
        results: rules.filter((rule) => only === null || rule.tenantId === null || rule.tenantId === only).map(view)
      }
    })
  })
]
