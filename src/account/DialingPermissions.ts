import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../actor/Entropy.ts"
import { ApiError } from "../domain/ApiError.ts"
import * as Id from "../domain/Id.ts"
import * as Destination from "./Destination.ts"

/**
 * Where calls may go, guide/calls.md#dialing-permissions: lists of countries, prefixes and classes of the operator, for
 * all tenants and for one. A number whose place is uncertain is refused wherever it may be one that is not allowed.
 *
 * The lists are small and read on every call, so they live in memory and are read again when the operator changes them.
 */
export type RuleKind = "country_block" | "country_allow" | "prefix_block" | "class_block"

export interface Rule {
  readonly id: Id.DialingRuleId
  /** Null: for everybody. */
  readonly tenantId: Id.TenantId | null
  readonly kind: RuleKind
  /** ISO 3166 alpha-2, an E.164 prefix with its `+`, or a class. */
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

const isValid = ({ kind, value }: Omit<Rule, "id">): boolean => {
  switch (kind) {
    case "prefix_block":
      return /^\+[0-9]{1,15}$/.test(value)
    case "class_block":
      return Destination.classes.some((each) => each === value)
    case "country_block":
    case "country_allow":
      return Destination.isCountry(value)
  }
}

/**
 * Pure: the first refusal in the order country block, country allow-list, prefix block, class block; null when the call
 * may go.
 */
export const refusal = (
  rules: ReadonlyArray<Pick<Rule, "tenantId" | "kind" | "value">>,
  tenantId: Id.TenantId,
  to: string
): ApiError | null => {
  const mine = rules.filter((rule) => rule.tenantId === null || rule.tenantId === tenantId)
  if (mine.length === 0) return null
  const of = (kind: RuleKind) => mine.filter((rule) => rule.kind === kind).map((rule) => rule.value)
  const { candidates, classes, country } = Destination.of(to)
  const possible = country === null ? candidates : [country]
  const blocked = of("country_block").find((each) => possible.includes(each))
  if (blocked !== undefined)
    return ApiError.of(
      "country_blocked",
      country === null
        ? `calls to ${blocked} are blocked, and this number may be one of its`
        : `calls to ${country} are blocked`,
      "to"
    )
  const allowed = of("country_allow")
  if (allowed.length > 0 && (possible.length === 0 || !possible.every((each) => allowed.includes(each))))
    return ApiError.of("country_not_allowed", `calls to ${country ?? "that destination"} are not allowed`, "to")
  const prefix = of("prefix_block").find((value) => to.startsWith(value))
  if (prefix !== undefined) return ApiError.of("prefix_blocked", `calls to ${prefix} are blocked`, "to")
  const named = of("class_block").find((value) => classes.some((each) => each === value))
  return named === undefined ? null : ApiError.of("prefix_blocked", `calls to ${named} numbers are blocked`, "to")
}
