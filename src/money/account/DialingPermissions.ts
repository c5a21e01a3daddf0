import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Destination from "../../domain/number/Destination.ts"
import { isE164 } from "../../domain/E164.ts"

/**
 * Where calls may go, guide/calls.md#dialing-permissions: the operator's lists of countries, prefixes and classes, for
 * all tenants or for one. A number with an uncertain place is refused if it may be in any place that is not allowed.
 *
 * The lists are small and read on every call, so they are kept in memory. They change there with the operator's
 * changes.
 */
export type RuleKind = "country_block" | "country_allow" | "prefix_block" | "class_block"

export interface Rule {
  readonly id: Id.DialingRuleId
  /** Null for a rule of all tenants. */
  readonly tenantId: Id.TenantId | null
  readonly kind: RuleKind
  /** ISO 3166 alpha-2, an E.164 prefix with its `+`, or a class. */
  readonly value: string
}

export class DialingPermissions extends Context.Service<
  DialingPermissions,
  {
    /** Fails with `country_blocked`, `country_not_allowed` or `prefix_blocked`; `invalid_request`: it is not E.164. */
    readonly check: (tenantId: Id.TenantId, to: string) => Effect.Effect<void, ApiError>
    readonly list: Effect.Effect<ReadonlyArray<Rule>>
    /** Adds a rule, with its line in the audit log, or returns the same rule if there is one. */
    readonly add: (rule: Omit<Rule, "id">) => Effect.Effect<Rule, ApiError>
    readonly remove: (id: Id.DialingRuleId) => Effect.Effect<Rule, ApiError>
  }
>()("trunkline/account/DialingPermissions") {
  static readonly layer = Layer.effect(
    DialingPermissions,
    Effect.gen(function* () {
      const { all, sql, transaction } = yield* Sql.make
      const journal = yield* Journal
      const entropy = yield* Entropy
      let rules = yield* all<Rule>`SELECT id, tenant_id, kind, value FROM destination_rule ORDER BY created_at, id`
      // Changes run one at a time, so that no rule exists twice.
      const changes = yield* Semaphore.make(1)
      /** Writes a change with its audit line, which belongs to the rule's tenant or to none. */
      const change =
        (rule: Rule, what: "added" | "removed", seed: string, at: number) =>
        (statement: Effect.Effect<unknown, SqlError>) => {
          const { id, kind, tenantId, value } = rule
          return Effect.gen(function* () {
            yield* statement
            const line = Audit.line({
              tenantId,
              at,
              seed,
              actor: yield* Audit.operator,
              action: `destination_rule.${what}`,
              resourceId: id,
              changes: [{ field: kind, from: what === "added" ? null : value, to: what === "added" ? value : null }]
            })
            yield* journal.commitWithin({ ...empty, audit: [line] })
          }).pipe(
            transaction,
            // Memory changes with the commit. A read instead could fail, and leave a written block without effect.
            Effect.map(() => {
              rules = what === "added" ? [...rules, rule] : rules.filter((each) => each.id !== id)
            })
          )
        }
      return DialingPermissions.of({
        check: (tenantId, to) =>
          Effect.suspend(() => {
            const refused = refusal(rules, tenantId, to)
            return refused === null ? Effect.void : Effect.fail(refused)
          }),
        list: Effect.sync(() => rules),
        add: Effect.fn("DialingPermissions.add")(function* (wanted) {
          if (!isValid(wanted))
            return yield* ApiError.of("invalid_request", `not a ${wanted.kind} value: ${wanted.value}`)
          const is = ({ kind, tenantId, value }: Rule) =>
            kind === wanted.kind && tenantId === wanted.tenantId && value === wanted.value
          const known = rules.find(is)
          if (known !== undefined) return known
          const seed = entropy.hex(16)
          const rule: Rule = { ...wanted, id: Id.deriveUuid(seed, "destination_rule") }
          const at = yield* Clock.currentTimeMillis
          yield* change(
            rule,
            "added",
            seed,
            at
          )(sql`
            INSERT INTO destination_rule (id, tenant_id, kind, value, created_at)
            VALUES (${rule.id}, ${rule.tenantId}, ${rule.kind}, ${rule.value}, ${timestamptz(at)})`)
          return rule
        }, changes.withPermits(1)),
        remove: Effect.fn("DialingPermissions.remove")(function* (id) {
          const rule = rules.find((each) => each.id === id)
          if (rule === undefined) return yield* ApiError.of("not_found", `no destination rule ${id}`)
          const at = yield* Clock.currentTimeMillis
          yield* change(rule, "removed", entropy.hex(16), at)(sql`DELETE FROM destination_rule WHERE id = ${id}`)
          return rule
        }, changes.withPermits(1))
      })
    })
  )
}

const isValid = ({ kind, value }: Omit<Rule, "id">): boolean => {
  switch (kind) {
    case "prefix_block":
      return /^\+[1-9][0-9]{0,14}$/.test(value)
    case "class_block":
      return Destination.classes.some((each) => each === value)
    case "country_block":
    case "country_allow":
      return Destination.isCountry(value)
  }
}

/**
 * Pure: the first refusal, in the order country block, country allow-list, prefix block, class block; or null. What is
 * not E.164 is refused before, because no list can judge its place.
 */
export const refusal = (
  rules: ReadonlyArray<Pick<Rule, "tenantId" | "kind" | "value">>,
  tenantId: Id.TenantId,
  to: string
): ApiError | null => {
  if (!isE164(to)) return ApiError.of("invalid_request", "to must be E.164", "to")
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
