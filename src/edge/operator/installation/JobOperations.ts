import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Operation from "../door/Operation.ts"

/** Failed jobs that are listed. */
const listed = 1_000

/** `job list`, `job failed`, `job retry`. */
export const make = Effect.gen(function* () {
  const jobs = yield* Jobs
  const journal = yield* Journal
  const entropy = yield* Entropy
  const sql = yield* SqlClient.SqlClient

  /** The row is due again, with its line in the audit log; false: there is no such row. */
  const retry = Effect.fnUntraced(function* (kind: string, key: string) {
    if (!(yield* jobs.retry(kind, key))) return false
    const line = Audit.line({
      tenantId: null,
      at: yield* Clock.currentTimeMillis,
      seed: entropy.hex(16),
      actor: Audit.operator,
      action: "job.retried",
      resourceType: "job",
      resourceId: `${kind} ${key}`,
      changes: [{ field: "status", from: "failed", to: "due" }]
    })
    yield* journal.commitWithin({ ...empty, audit: [line] })
    return true
  })

  return [
    Operation.make("job/list", Operation.Nothing, () =>
      Effect.map(jobs.stats, (standing) => ({
        results: standing.map(({ due, failed, kind, oldestDueMs, running }) => ({
          kind,
          due,
          running,
          failed,
          oldest_due_seconds: Math.round(oldestDueMs / 1000)
        }))
      }))
    ),
    Operation.make("job/failed", Operation.Nothing, () =>
      Effect.map(jobs.failed(listed), (rows) => ({
        results: rows.map(({ attempts, error, failedAt, key, kind, tenantId }) => ({
          kind,
          key,
          tenant_id: tenantId,
          attempts,
          failed_at: Timestamp.format(failedAt),
          error
        }))
      }))
    ),
    Operation.make(
      "job/retry",
      Schema.Struct({ kind: Schema.String, key: Schema.String }),
      Effect.fnUntraced(function* ({ key, kind }) {
        if (!(yield* retry(kind, key).pipe(sql.withTransaction, Effect.orDie)))
          return yield* ApiError.of("not_found", "no such failed job")
        yield* Effect.logInfo("a failed job is tried again by the operator", { kind, key })
        return { kind, key }
      })
    )
  ]
})
