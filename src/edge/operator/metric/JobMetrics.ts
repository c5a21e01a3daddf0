import { Effect, Metric } from "effect"
import { Jobs } from "../../../runtime/job/Jobs.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const due = gauge("jobs_due", "Rows of this kind whose time has come and that nobody has claimed")
const running = gauge("jobs_running", "Attempts that are made now")
const failed = gauge("jobs_failed", "Rows of this kind that have failed for good and wait for an operator")
const oldest = gauge("jobs_oldest_due_seconds", "How long the oldest row of this kind has been due")

/** Reports the background work of each kind. */
export const update = Effect.map(Jobs, ({ stats }) =>
  Effect.flatMap(
    stats,
    Effect.forEach((of) => {
      const attributes = { kind: of.kind }
      return Effect.all([
        Metric.update(Metric.withAttributes(due, attributes), of.due),
        Metric.update(Metric.withAttributes(running, attributes), of.running),
        Metric.update(Metric.withAttributes(failed, attributes), of.failed),
        Metric.update(Metric.withAttributes(oldest, attributes), of.oldestDueMs / 1000)
      ])
    })
  )
)
