import { Effect, Metric } from "effect"
import { Jobs } from "../../../runtime/job/Jobs.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const due = gauge("jobs_due", "Rows of this kind whose time has come and that nobody has claimed")
const running = gauge("jobs_running", "Attempts that are made now")
const failed = gauge("jobs_failed", "Rows of this kind that have failed for good and wait for an operator")
const oldest = gauge("jobs_oldest_due_seconds", "How long the oldest row of this kind has been due")

/**
 * Reports the background work of each kind. When the database does not answer within `timeout`, the last figures
 * remain.
 */
export const update = Effect.map(
  Jobs,
  ({ stats: standing }) =>
    (timeout: "1 second") =>
      standing.pipe(
        Effect.timeout(timeout),
        Effect.flatMap(
          Effect.forEach((standing) => {
            const of = { kind: standing.kind }
            return Effect.all([
              Metric.update(Metric.withAttributes(due, of), standing.due),
              Metric.update(Metric.withAttributes(running, of), standing.running),
              Metric.update(Metric.withAttributes(failed, of), standing.failed),
              Metric.update(Metric.withAttributes(oldest, of), standing.oldestDueMs / 1000)
            ])
          })
        ),
        Effect.catchCause(() => Effect.void)
      )
)
