import { Context, Effect, Layer } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Supervised from "../process/Supervised.ts"
import { Journal } from "../store/journal/Journal.ts"
import type { Job } from "./Job.ts"
import type * as JobRows from "./JobRows.ts"
import * as Line from "./Line.ts"

export type { Due, Job } from "./Job.ts"
export type { FailedRow } from "./JobRows.ts"

/** Rows of one kind; times in milliseconds. */
interface Standing extends JobRows.Standing {
  /** Attempts that are made now. */
  readonly running: number
}

/**
 * Work that is due by a row: sweeps, expiries, and what has to happen after a commit however the process ends.
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
    /** Before `run`; a kind is declared once. */
    readonly declare: (job: Job) => void
    /** A row, inside the caller's transaction; nothing when it is there already, unless this one moves it. */
    readonly put: (row: JobRows.NewRow) => Effect.Effect<void>
    /**
     * Inside the caller's transaction: forgets the rows that have failed for good and whose keys begin so, because
     * something comes instead. True: one of them is still to be done.
     */
    readonly supersede: (kind: string, begin: string) => Effect.Effect<boolean>
    /**
     * Attempts this row at once when it is due, and waits for the attempt. It never fails: the row keeps what is still
     * to do.
     */
    readonly runNow: (kind: string, key: string) => Effect.Effect<void>
    /**
     * Looks once: attempts what is due and has a place, and waits until no attempt is under way. `run` looks by itself.
     */
    readonly look: Effect.Effect<void>
    /** Looks when something is due, until the scope closes; then gives back what is under way. */
    readonly run: Effect.Effect<never>
    readonly standing: Effect.Effect<ReadonlyArray<Standing>>
    readonly failed: (limit: number) => Effect.Effect<ReadonlyArray<JobRows.FailedRow>>
    /** Makes a failed row due again; false when there is none. */
    readonly revive: (kind: string, key: string) => Effect.Effect<boolean>
  }
>()("trunkline/job/Jobs") {
  /** `now`: another clock than the database's, for tests. */
  static readonly layer = (options: { readonly now?: () => Fragment } = {}) =>
    Layer.effect(
      Jobs,
      Effect.gen(function* () {
        const journal = yield* Journal
        const jobs = new Map<string, Job>()
        const lines = yield* Effect.forEach(journal.partitions(), (partition) =>
          Line.make({ ...options, partition, jobs })
        )
        const [first] = lines
        if (first === undefined) return yield* Effect.die(new Error("jobs run in a partition, and none is held"))
        const each = <A, E>(use: (line: Line.Line) => Effect.Effect<A, E>) => Effect.forEach(lines, use)

        return Jobs.of({
          declare: (job) => {
            if (jobs.has(job.kind)) throw new Error(`the job ${job.kind} is declared twice`)
            jobs.set(job.kind, job)
          },
          put: Effect.fnUntraced(function* (row) {
            yield* Effect.orDie(first.rows.put(row))
            // Only the row knows which of them is its tenant's home.
            yield* each(({ expect }) => expect)
          }),
          supersede: (kind, begin) => Effect.orDie(first.rows.supersede(kind, begin)),
          runNow: Effect.fn("Jobs.runNow")(function* (kind, key) {
            const job = jobs.get(kind)
            if (job === undefined) return yield* Effect.die(new Error(`no job ${kind} is declared`))
            yield* each((line) =>
              Effect.catchCause(line.runner.runNow(job, key), (cause) => {
                line.wake()
                return Effect.logWarning(`job ${kind} ${key} was not begun at once`, cause)
              })
            )
          }),
          look: Effect.andThen(
            each(({ runner }) => Effect.orDie(runner.look)),
            each(({ runner }) => runner.idle)
          ),
          run: Effect.andThen(
            Effect.forEach(lines, ({ run }) => run, { concurrency: "unbounded", discard: true }),
            Effect.never
          ),
          standing: Effect.map(
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
          revive: (kind, key) =>
            Effect.map(
              each(({ rows, wake }) => Effect.tap(Effect.orDie(rows.revive(kind, key)), () => Effect.sync(wake))),
              (revived) => revived.includes(true)
            )
        })
      })
    )

  /** Runs what is due, as long as the layer lives. */
  static readonly runner = Layer.effectDiscard(Effect.flatMap(Jobs, (jobs) => Supervised.fork("the jobs", jobs.run)))
}

const standingOf = (
  kind: string,
  lines: ReadonlyArray<Line.Line>,
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
