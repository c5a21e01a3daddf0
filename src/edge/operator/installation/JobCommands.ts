import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../domain/ApiError.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"

const listLimit = 1_000

/** Makes the row due again, with a line in the audit log; false when there is no such row. */
const retry = Effect.fnUntraced(function* (kind: string, key: string) {
  if (!(yield* (yield* Jobs).retry(kind, key))) return false
  const line = yield* OperatorAudit.line({
    tenantId: null,
    action: "job.retried",
    resourceType: "job",
    resourceId: `${kind} ${key}`,
    changes: [{ field: "status", from: "failed", to: "due" }]
  })
  yield* (yield* Journal).commitWithin(line)
  return true
})

/** guide/operation.md#background-work. */
export const commands = [
  Command.make("job list", {
    summary: "counts what is due, running and failed of each kind of background work",
    columns: "kind due running failed oldest_due_seconds",
    run: Effect.fnUntraced(function* () {
      const stats = yield* (yield* Jobs).stats
      return {
        results: stats.map((of) => ({
          ...Shown.of(of, "kind due running failed"),
          oldest_due_seconds: Math.round(of.oldestDueMs / 1000)
        }))
      }
    })
  }),
  Command.make("job failed", {
    summary: "lists the last 1,000 jobs that have failed for good",
    columns: "kind key tenant_id attempts failed_at error",
    run: Effect.fnUntraced(function* () {
      const failed = yield* (yield* Jobs).failed(listLimit)
      return {
        results: failed.map((job) => Shown.of(job, "kind key tenantId attempts failedAt error"))
      }
    })
  }),
  Command.make("job retry", {
    summary: "tries a failed job again",
    input: {
      kind: Flag.argument("kind", Schema.String, "the kind of the job, as job failed shows it"),
      key: Flag.argument("key", Schema.String, "its key, as job failed shows it")
    },
    run: Effect.fnUntraced(function* ({ key, kind }) {
      const sql = yield* SqlClient.SqlClient
      if (!(yield* retry(kind, key).pipe(sql.withTransaction, Effect.orDie)))
        return yield* ApiError.of("not_found", "no such failed job")
      yield* Effect.logInfo("a failed job is tried again by the operator", { kind, key })
      return { kind, key }
    })
  })
]
