import { Context, Effect, Layer } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Supervised from "../process/Supervised.ts"
import * as WritePermit from "../process/WritePermit.ts"
import { Journal } from "../store/journal/Journal.ts"
import type { Job } from "./Job.ts"
import type * as JobRows from "./JobRows.ts"
import * as PartitionJobs from "./PartitionJobs.ts"

export type { Job } from "./Job.ts"

/** The counts of one kind; times in milliseconds. */
interface Standing extends JobRows.Standing {
  readonly running: number
}

/**
 * Work that is due by a row: sweeps, expiries, and work that has to follow a commit however the process ends.
 *
 * A feature declares a kind of work, and puts a row into the transaction of the cause. The runner claims due rows in
 * turns of the tenants, makes attempts at them, repeats those that fail, and keeps the row of a job that has failed for
 * good. Each row gets at least one attempt, and never two at once.
 *
 * Webhook deliveries are no jobs. Their rows are a queue of their own, with an order within each call, places for each
 * endpoint, and many thousands a second (`webhook/claim/Claimer.ts`).
 */
export class Jobs extends Context.Service<
  Jobs,
  {
    /** Declares a kind, once, and before `run`. */
    readonly declare: (job: Job) => void
    /** Puts a row inside the caller's transaction. A row that exists already stays, unless this one moves it. */
    readonly enqueue: (row: JobRows.NewRow) => Effect.Effect<void>
    /**
     * Deletes, inside the caller's transaction, the rows that have failed for good and whose keys have this beginning,
     * because other work replaces them. True: a row with such a key is still to be done.
     */
    readonly replace: (kind: string, start: string) => Effect.Effect<boolean>
    /**
     * Makes an attempt at this row at once if it is due, and waits for it. It never fails: unfinished work stays in the
     * row.
     */
    readonly runNow: (kind: string, key: string) => Effect.Effect<void>
    /**
     * Looks once: makes attempts at due rows that have a place, and waits until no attempt is under way. `run` looks by
     * itself.
     */
    readonly poll: Effect.Effect<void>
    /** Looks whenever a row is due, until the scope closes; then gives back the rows of attempts under way. */
    readonly run: Effect.Effect<never>
    readonly stats: Effect.Effect<ReadonlyArray<Standing>>
    readonly failed: (limit: number) => Effect.Effect<ReadonlyArray<JobRows.FailedRow>>
    /** Makes a failed row due again; false when there is none. */
    readonly retry: (kind: string, key: string) => Effect.Effect<boolean>
  }
>()("trunkline/job/Jobs") {
  /** `now`: a clock other than the database's, for tests. */
  static readonly layer = (options: { readonly now?: () => Fragment } = {}) =>
    Layer.effect(
      Jobs,
      Effect.gen(function* () {
        const journal = yield* Journal
        const jobs = new Map<string, Job>()
        const lines = yield* Effect.forEach(journal.partitions(), (partition) =>
          PartitionJobs.make({ ...options, partition, jobs })
        )
        const [first] = lines
        if (first === undefined) return yield* Effect.die(new Error("jobs run in a partition, and none is held"))
        const each = <A, E>(use: (line: PartitionJobs.PartitionJobs) => Effect.Effect<A, E>) =>
          Effect.forEach(lines, use)

        return Jobs.of({
          declare: (job) => {
            if (jobs.has(job.kind)) throw new Error(`the job ${job.kind} is declared twice`)
            jobs.set(job.kind, job)
          },
          enqueue: Effect.fnUntraced(function* (row) {
            yield* Effect.orDie(first.rows.put(row))
            // Every line expects the row, because only the row itself knows its tenant's home partition.
            yield* each(({ expect }) => expect)
          }),
          replace: (kind, start) => Effect.orDie(first.rows.supersede(kind, start)),
          runNow: Effect.fn("Jobs.runNow")(function* (kind, key) {
            const job = jobs.get(kind)
            if (job === undefined) return yield* Effect.die(new Error(`no job ${kind} is declared`))
            yield* each((line) =>
              Effect.catchCause(WritePermit.without(line.runner.runNow(job, key)), (cause) => {
                line.wake()
                return Effect.logWarning(`job ${kind} ${key} was not begun at once`, cause)
              })
            )
          }),
          poll: Effect.andThen(
            each(({ runner }) => Effect.orDie(runner.look)),
            each(({ runner }) => runner.idle)
          ),
          run: Effect.andThen(
            Effect.forEach(lines, ({ run }) => run, { concurrency: "unbounded", discard: true }),
            Effect.never
          ),
          stats: Effect.map(
            each(({ rows }) => Effect.orDie(rows.standing)),
            (standing) => [...jobs.keys()].map((kind) => standingOf(kind, lines, standing.flat()))
          ),
          failed: (limit) =>
            Effect.map(
              each(({ rows }) => Effect.orDie(rows.failed(limit))),
              (failed) =>
                failed
                  .flat()
                  .toSorted((one, other) => other.failedAt - one.failedAt)
                  .slice(0, limit)
            ),
          retry: (kind, key) =>
            Effect.map(
              each(({ rows, wake }) => Effect.tap(Effect.orDie(rows.revive(kind, key)), () => Effect.sync(wake))),
              (revived) => revived.includes(true)
            )
        })
      })
    )

  /** Runs due rows until the layer is closed. */
  static readonly runner = Layer.effectDiscard(Effect.flatMap(Jobs, (jobs) => Supervised.fork("the jobs", jobs.run)))
}

const standingOf = (
  kind: string,
  lines: ReadonlyArray<PartitionJobs.PartitionJobs>,
  standing: ReadonlyArray<JobRows.Standing>
): Standing => {
  const rows = standing.filter((row) => row.kind === kind)
  return {
    kind,
    due: rows.reduce((sum, { due }) => sum + due, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    oldestDueMs: Math.max(0, ...rows.map(({ oldestDueMs }) => oldestDueMs)),
    running: lines.reduce((sum, { runner }) => sum + runner.running(kind), 0)
  }
}
