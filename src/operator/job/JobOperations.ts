import { Effect, Schema } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import * as Timestamp from "../../domain/Timestamp.ts"
import { Jobs } from "../../job/Jobs.ts"
import * as Operation from "../Operation.ts"

/** Failed jobs that are listed. */
const listed = 1_000

/** `job list`, `job failed`, `job retry`. */
export const make = Effect.map(Jobs, (jobs) => [
  Operation.make("job/list", Operation.Nothing, () =>
    Effect.map(jobs.standing, (standing) => ({
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
      if (!(yield* jobs.revive(kind, key))) return yield* ApiError.of("not_found", "no such failed job")
      yield* Effect.logInfo("a failed job is tried again by the operator", { kind, key })
      return { kind, key }
    })
  )
])
