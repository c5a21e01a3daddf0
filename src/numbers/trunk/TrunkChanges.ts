import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as TrunkNumberPlan from "../../carrier/number/TrunkNumberPlan.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { planOf, type RouteRow, type TrunkSettings } from "./ConnectionView.ts"
import type * as RouteRepo from "./RouteRepo.ts"

/** A trunk's digest credentials. Without `username` the present one stays. Password null removes the password. */
export interface NewPassword {
  readonly username?: string
  readonly password: string | null
}

const unknown = (id: string) => ApiError.of("not_found", `no route ${id}`)

/**
 * The operator's changes of an existing route, each with its audit line in the same transaction. A change without
 * effect leaves no line. Live calls continue.
 *
 * `changed` gets the row as it was, after the commit.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly repo: Effect.Success<typeof RouteRepo.make>
  readonly changed: (row: RouteRow) => Effect.Effect<void>
}) {
  const { changed, repo } = options
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const vault = yield* Vault

  const write = Effect.fnUntraced(function* (
    row: RouteRow,
    action: string,
    changes: Parameters<typeof Audit.line>[0]["changes"]
  ) {
    const line = Audit.line({
      tenantId: row.tenantId,
      at: yield* Clock.currentTimeMillis,
      seed: entropy.hex(16),
      actor: yield* Audit.operator,
      action: `connection.${action}`,
      resourceId: row.id,
      changes: changes ?? []
    })
    yield* journal.commitWithin({ ...empty, audit: [line] })
  })

  /** `apply` runs within the transaction and returns the row as it is afterwards. */
  const change = Effect.fnUntraced(function* (id: string, apply: (row: RouteRow) => Effect.Effect<RouteRow, ApiError>) {
    if (!Id.is("route", id)) return yield* unknown(id)
    const [before, after] = yield* Effect.gen(function* () {
      const row = yield* repo.lock(id)
      if (row === null) return yield* unknown(id)
      return [row, yield* apply(row)] as const
    }).pipe(transaction)
    yield* changed(before)
    return after
  })

  const setStatus = (id: string, status: "active" | "disabled") =>
    change(id, (row) =>
      Effect.gen(function* () {
        if (row.status === status) return row
        const next: RouteRow = { ...row, status }
        yield* repo.update(next)
        yield* write(row, status === "active" ? "enabled" : "disabled", [
          { field: "status", from: row.status, to: status }
        ])
        return next
      })
    )

  return {
    setStatus,

    makeDefault: (id: string) =>
      change(id, (row) =>
        Effect.gen(function* () {
          if (row.isDefault) return row
          const next: RouteRow = { ...row, isDefault: true }
          yield* repo.clearDefault(row.tenantId)
          yield* repo.update(next)
          yield* write(row, "updated", [{ field: "is_default", from: false, to: true }])
          return next
        })
      ),

    setPassword: (id: string, { password, username }: NewPassword) =>
      change(id, (row) =>
        Effect.gen(function* () {
          if (row.adapter !== "sip") return yield* ApiError.of("unprocessable", "only a SIP trunk has a password")
          const next: RouteRow = {
            ...row,
            username: username ?? row.username,
            password: password === null ? null : vault.seal(password)
          }
          if (next.password !== null && next.username === null)
            return yield* ApiError.of("invalid_request", "a password needs a user name")
          yield* repo.update(next)
          yield* write(
            row,
            "password_changed",
            next.username === row.username ? [] : [{ field: "username", from: row.username, to: next.username }]
          )
          return next
        })
      ),

    setLimits: (id: string, settings: Partial<TrunkSettings>) =>
      change(id, (row) =>
        Effect.gen(function* () {
          if (row.adapter !== "sip") return yield* ApiError.of("unprocessable", "only a SIP trunk has limits")
          const next: RouteRow = { ...row, ...settings }
          const changes = fields
            .filter(([key]) => next[key] !== row[key])
            .map(([key, field]) => ({ field, from: row[key], to: next[key] }))
          if (changes.length === 0) return row
          yield* repo.update(next)
          yield* write(row, "updated", changes)
          return next
        })
      ),

    /** Changes the given fields of the number plan, or removes it for null. */
    setNumbers: (id: string, fields: Partial<TrunkNumberPlan.TrunkNumberPlan> | null) =>
      change(id, (row) =>
        Effect.gen(function* () {
          if (row.adapter !== "sip") return yield* ApiError.of("unprocessable", "only a SIP trunk has a number plan")
          const before = planOf(row)
          const after = fields === null ? null : { ...TrunkNumberPlan.none, ...before, ...fields }
          const fault = after === null ? null : TrunkNumberPlan.faultOf(after)
          if (fault !== null) return yield* ApiError.of("invalid_request", fault)
          const shown = (plan: TrunkNumberPlan.TrunkNumberPlan | null, field: PlanField) =>
            (plan ?? TrunkNumberPlan.none)[field]
          const changes = planFields
            .filter((field) => shown(after, field) !== shown(before, field))
            .map((field) => ({
              field: `number_plan.${Wire.snake(field)}`,
              from: shown(before, field),
              to: shown(after, field)
            }))
          if (changes.length === 0 && (after === null) === (before === null)) return row
          const next: RouteRow = { ...row, numberPlan: after }
          yield* repo.update(next)
          if (changes.length > 0) yield* write(row, "updated", changes)
          return next
        })
      ),

    /** Fails while anything names the route; the error lists the names. */
    remove: (id: string) =>
      change(id, (row) =>
        Effect.gen(function* () {
          const reasons = [
            ...(row.isDefault ? ["it is the tenant's default route"] : []),
            ...named(yield* repo.dependents(row.id))
          ]
          if (reasons.length > 0)
            return yield* ApiError.of("conflict", `${row.id} cannot be removed: ${reasons.join("; ")}`)
          yield* repo.remove(row.id)
          yield* write(row, "deleted", [{ field: "name", from: row.name, to: null }])
          return row
        })
      )
  }
})

type PlanField = keyof TrunkNumberPlan.TrunkNumberPlan
const planFields = Object.keys(TrunkNumberPlan.TrunkNumberPlan.fields) as ReadonlyArray<PlanField>

/** The settings with their external names. */
const fields = [
  ["maxCalls", "max_calls"],
  ["outboundCps", "outbound_cps"],
  ["inboundCps", "inbound_cps"],
  ["isQualified", "is_qualified"],
  ["refusesUnreachable", "refuses_unreachable"]
] as const satisfies ReadonlyArray<readonly [keyof TrunkSettings, string]>

/** Formats "numbers +1…, +2…" for each kind, with at most ten names. */
const named = (dependents: ReadonlyArray<{ readonly kind: string; readonly name: string }>): ReadonlyArray<string> =>
  [...Map.groupBy(dependents, ({ kind }) => kind)].map(([kind, all]) => {
    const names = all.slice(0, 10).map(({ name }) => name)
    return `${kind}s name it: ${names.join(", ")}${all.length > 10 ? " and more" : ""}`
  })
