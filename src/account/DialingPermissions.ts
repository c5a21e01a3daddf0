import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { parsePhoneNumberFromString } from "libphonenumber-js/max"
import { Entropy } from "../actor/Entropy.ts"
import { ApiError } from "../domain/ApiError.ts"
import * as Id from "../domain/Id.ts"

/**
 * Where calls may go, guide/calls.md#dialing-permissions: country and prefix lists of the operator, for all tenants and
 * for one.
 *
 * The lists are small and read on every call, so they live in memory and are read again when the operator changes them.
 */
export type RuleKind = "country_block" | "country_allow" | "prefix_block"

export interface Rule {
  readonly id: Id.DialingRuleId
  /** Null: for everybody. */
  readonly tenantId: Id.TenantId | null
  readonly kind: RuleKind
  /** ISO 3166 alpha-2, or an E.164 prefix with its `+`. */
  readonly value: string
}

export class DialingPermissions extends Context.Service<
  DialingPermissions,
  {
    /** Fails with `country_blocked`, `country_not_allowed` or `prefix_blocked`. */
    readonly check: (tenantId: Id.TenantId, to: string) => Effect.Effect<void, ApiError>
    readonly list: Effect.Effect<ReadonlyArray<Rule>>
    readonly add: (rule: Omit<Rule, "id">) => Effect.Effect<Rule, ApiError>
    readonly remove: (id: Id.DialingRuleId) => Effect.Effect<void, ApiError>
  }
>()("trunkline/account/DialingPermissions") {
  static readonly layer = Layer.effect(
    DialingPermissions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const read = Effect.orDie(
        sql<Rule>`SELECT id, tenant_id AS "tenantId", kind, value FROM destination_rule ORDER BY created_at, id`
      )
      let rules = yield* read
      // One change at a time: the lists that are read last must be those that were written last.
      const changes = yield* Semaphore.make(1)
      const reread = Effect.map(read, (fresh) => {
        rules = fresh
      })
      return DialingPermissions.of({
        check: (tenantId, to) =>
          Effect.suspend(() => {
            const refused = refusal(rules, tenantId, to)
            return refused === null ? Effect.void : Effect.fail(refused)
          }),
        list: Effect.sync(() => rules),
        add: Effect.fn("DialingPermissions.add")(function* (rule) {
          if (!isValid(rule)) return yield* ApiError.of("invalid_request", `not a ${rule.kind} value: ${rule.value}`)
          const id = Id.deriveUuid(entropy.hex(16), "destination_rule")
          const now = yield* Clock.currentTimeMillis
          yield* Effect.orDie(sql`
            INSERT INTO destination_rule (id, tenant_id, kind, value, created_at)
            VALUES (${id}, ${rule.tenantId}, ${rule.kind}, ${rule.value}, to_timestamp(${now} / 1000.0))
            ON CONFLICT DO NOTHING`)
          yield* reread
          // The same rule may have been there already, under its own id.
          const is = ({ kind, tenantId, value }: Rule) =>
            kind === rule.kind && tenantId === rule.tenantId && value === rule.value
          return rules.find(is) ?? { ...rule, id }
        }, changes.withPermits(1)),
        remove: Effect.fn("DialingPermissions.remove")(function* (id) {
          if (!rules.some((rule) => rule.id === id)) return yield* ApiError.of("not_found", "no such rule")
          yield* Effect.orDie(sql`DELETE FROM destination_rule WHERE id = ${id}`)
          yield* reread
        }, changes.withPermits(1))
      })
    })
  )
}

const isValid = ({ kind, value }: Omit<Rule, "id">): boolean =>
  kind === "prefix_block" ? /^\+[0-9]{1,15}$/.test(value) : /^[A-Z]{2}$/.test(value)

/** Pure: the first refusal in the order country block, country allow-list, prefix block; null when the call may go. */
const refusal = (rules: ReadonlyArray<Rule>, tenantId: Id.TenantId, to: string): ApiError | null => {
  const mine = rules.filter((rule) => rule.tenantId === null || rule.tenantId === tenantId)
  if (mine.length === 0) return null
  const of = (kind: RuleKind) => mine.filter((rule) => rule.kind === kind).map((rule) => rule.value)
  const blocked = of("country_block")
  const allowed = of("country_allow")
  if (blocked.length > 0 || allowed.length > 0) {
    const country = countryOf(to)
    if (country !== null && blocked.includes(country))
      return ApiError.of("country_blocked", `calls to ${country} are blocked`, "to")
    if (allowed.length > 0 && (country === null || !allowed.includes(country)))
      return ApiError.of("country_not_allowed", `calls to ${country ?? "that destination"} are not allowed`, "to")
  }
  const prefix = of("prefix_block").find((value) => to.startsWith(value))
  return prefix === undefined ? null : ApiError.of("prefix_blocked", `calls to ${prefix} are blocked`, "to")
}

/** ISO country of an E.164 number; of a calling code that several share, the one whose plan the number fits. */
const countryOf = (to: string): string | null => parsePhoneNumberFromString(to)?.country ?? null
