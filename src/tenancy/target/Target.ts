import { Clock, Context, Effect, Layer, Result, Schedule } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { TargetPolicy } from "../../ports/egress/TargetPolicy.ts"
import * as TargetRules from "../../ports/egress/TargetRules.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"

interface KeptRule extends TargetRules.Rule {
  readonly reason: string | null
  readonly createdAt: number
}

/** How soon a process sees a change by another one. */
const pollMs = 1_000

/**
 * The operator's rules for targets, guide/operation.md#targets: stored in the database, in force in every process
 * within a second. A process with an unreachable database continues with the rules that it has.
 */
export class Targets extends Context.Service<
  Targets,
  {
    /** Stores a rule, in place of one for the same value; 400 when the value is no host, domain or network. */
    readonly put: (
      verdict: TargetRules.Verdict,
      value: string,
      reason: string | null
    ) => Effect.Effect<TargetRules.Rule, ApiError>
    /** 404 for a value without a rule. */
    readonly remove: (value: string) => Effect.Effect<TargetRules.Rule, ApiError>
    readonly list: Effect.Effect<ReadonlyArray<KeptRule>>
  }
>()("trunkline/target/Targets") {
  /** `policy`: the rules that requests follow. They are set before the layer is built, and kept up to date. */
  static readonly layer = (policy: TargetPolicy) =>
    Layer.effect(
      Targets,
      Effect.gen(function* () {
        const { sql, transaction } = yield* Sql.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        let known = -1

        const list = sql<KeptRule>`
          SELECT value, verdict, reason, created_at
          FROM target_rule ORDER BY verdict, value`

        // The version is read first, so that rules that change after it are read again.
        const refresh = Effect.gen(function* () {
          const [row] = yield* sql<{ readonly version: number }>`SELECT version FROM target_version`
          const version = row?.version ?? 0
          if (version === known) return
          policy.set(yield* list)
          known = version
        })

        const change = (
          write: Effect.Effect<TargetRules.Rule | null, unknown>,
          action: "target_rule.put" | "target_rule.removed",
          reason: string | null
        ) =>
          Effect.gen(function* () {
            const at = yield* Clock.currentTimeMillis
            const rule = yield* write
            if (rule === null) return null
            yield* sql`UPDATE target_version SET version = version + 1`
            const isPut = action === "target_rule.put"
            const line = Audit.line({
              tenantId: null,
              at,
              seed: entropy.hex(16),
              actor: yield* Audit.operator,
              action,
              resourceId: rule.value,
              changes: [
                { field: "verdict", from: isPut ? null : rule.verdict, to: isPut ? rule.verdict : null },
                ...(reason === null ? [] : [{ field: "reason", from: null, to: reason }])
              ]
            })
            yield* journal.commitWithin({ ...empty, audit: [line] })
            return rule
          }).pipe(
            transaction,
            Effect.tap(() => refresh),
            Effect.orDie
          )

        const spelled = (value: string) =>
          Result.match(TargetRules.parse(value), {
            onSuccess: (found) => Effect.succeed(found),
            onFailure: (why) => Effect.fail(ApiError.of("invalid_request", `${value} ${why}`, "value"))
          })

        yield* Effect.orDie(refresh)
        yield* Supervised.fork(
          "the poll of the rules for targets",
          Effect.repeat(
            Effect.catchCause(refresh, (cause) => Effect.logDebug("the rules for targets could not be read", cause)),
            Schedule.spaced(pollMs)
          )
        )

        return Targets.of({
          put: Effect.fn("Targets.put")(function* (verdict, value, reason) {
            const rule = { value: yield* spelled(value), verdict }
            const write = Effect.as(
              sql`
                INSERT INTO target_rule (value, verdict, reason, created_at)
                VALUES (${rule.value}, ${verdict}, ${reason}, now())
                ON CONFLICT (value) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason`,
              rule
            )
            yield* change(write, "target_rule.put", reason)
            return rule
          }, Effect.uninterruptible),
          remove: Effect.fn("Targets.remove")(function* (value) {
            const name = yield* spelled(value)
            const write = Effect.map(
              sql<TargetRules.Rule>`DELETE FROM target_rule WHERE value = ${name} RETURNING value, verdict`,
              ([rule]) => rule ?? null
            )
            const removed = yield* change(write, "target_rule.removed", null)
            return removed ?? (yield* ApiError.of("not_found", `there is no rule for ${name}`))
          }, Effect.uninterruptible),
          list: Effect.orDie(list)
        })
      })
    )
}
