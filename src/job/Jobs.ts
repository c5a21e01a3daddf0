import { Clock, Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { Journal } from "../store/Journal.ts"
import * as Attempt from "./Attempt.ts"
import type { Job } from "./Job.ts"
import * as JobRows from "./JobRows.ts"
import * as Runner from "./Runner.ts"

export type { Due, Job } from "./Job.ts"
export type { FailedRow } from "./JobRows.ts"

/** Rows of one kind; times in milliseconds. */
export interface Standing extends JobRows.Standing {
  /** Attempts that are made now. */
  readonly running: number
}

/**
 * Work that is due by a row: sweeps, expiries, what has to happen after a commit however the process ends.
 *
 * A feature declares a kind of work, and puts a row into the transaction of the cause; the runner claims rows that are
 * due by turns of the tenants, makes attempts at them, repeats those that fail, and keeps the row of one that has failed
 * for good. At least one attempt is made at each row; two are never made at once.
 *
 * Webhook deliveries are no jobs: their rows are a queue of their own, with an order within each call, places for each
 * destination, and many thousands a second (`webhook/Claimer.ts`).
 */
export class Jobs extends Context.Service<
  Jobs,
  {
    /** Before `run`; a kind is declared once. */
    readonly declare: (job: Job) => void
    /** A row that is due now, inside the caller's transaction; nothing when it is there already. */
    readonly put: (row: JobRows.NewRow) => Effect.Effect<void>
    /** Attempts this row at once when it is due, and waits for the attempt. Whatever comes of it, the row stands for it. */
    readonly runNow: (kind: string, key: string) => Effect.Effect<void>
    /** One look: attempts what is due and has a place, and waits until no attempt is under way. `run` looks by itself. */
    readonly look: Effect.Effect<void>
    /** Looks when something is due, until the scope closes; what is under way then is given back. */
    readonly run: Effect.Effect<never>
    readonly standing: Effect.Effect<ReadonlyArray<Standing>>
    readonly failed: (limit: number) => Effect.Effect<ReadonlyArray<JobRows.FailedRow>>
    /** Makes a failed row due again; false when there is none. */
    readonly revive: (kind: string, key: string) => Effect.Effect<boolean>
  }
>()("trunkline/job/Jobs") {
  /** `now`: another clock than the database's, for tests. */
  static readonly layer = (options: { readonly partition?: number; readonly now?: () => Fragment } = {}) =>
    Layer.effect(
      Jobs,
      Effect.gen(function* () {
        const { partition = 0 } = options
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const rows = JobRows.make(sql, partition, options.now)
        const jobs = new Map<string, Job>()
        let expectedUntil = 0
        const changed = Latch.makeUnsafe(false)
        const wake = () => void Latch.openUnsafe(changed)
        const runner = yield* Runner.make({ sql, journal, rows, partition, jobs, onFree: wake })

        const patiently = (what: string) => (effect: Effect.Effect<unknown, unknown>) => {
          let said = false
          return effect.pipe(
            Effect.tapCause((cause) => {
              if (said) return Effect.void
              said = true
              return Effect.logWarning(`${what}; tried again until it can be`, cause)
            }),
            Effect.tap(() => Effect.sync(() => (said = false))),
            // A process that lost the partition stops; until it has, it only asks whether it still has.
            Effect.catchCause(() => Effect.as(Effect.sleep(Attempt.nearMs), "again" as const)),
            Effect.repeat({ while: (outcome) => outcome === "again" })
          )
        }

        const pass = Effect.gen(function* () {
          Latch.closeUnsafe(changed)
          const nextMs = yield* runner.look
          const expecting = (yield* Clock.currentTimeMillis) < expectedUntil
          yield* Effect.raceFirst(Effect.sleep(Attempt.lookInMs(nextMs, expecting)), Latch.await(changed))
        })
        const run = patiently("jobs could not begin")(runner.prepare).pipe(
          Effect.andThen(Effect.forever(patiently("what is due could not be looked for")(pass))),
          Effect.ensuring(runner.stop)
        )

        return Jobs.of({
          declare: (job) => {
            if (jobs.has(job.kind)) throw new Error(`the job ${job.kind} is declared twice`)
            jobs.set(job.kind, job)
          },
          put: Effect.fnUntraced(function* (row) {
            yield* Effect.orDie(rows.put(row))
            expectedUntil = (yield* Clock.currentTimeMillis) + Attempt.expectedMs
            wake()
          }),
          runNow: Effect.fn("Jobs.runNow")(function* (kind, key) {
            const job = jobs.get(kind)
            if (job === undefined) return yield* Effect.die(new Error(`no job ${kind} is declared`))
            yield* Effect.catchCause(runner.runNow(job, key), (cause) => {
              wake()
              return Effect.logWarning(`job ${kind} ${key} was not begun at once`, cause)
            })
          }),
          look: Effect.andThen(Effect.orDie(runner.look), runner.idle),
          run,
          standing: Effect.map(Effect.orDie(rows.standing), (standing) =>
            [...jobs.keys()].map((kind) => ({
              ...(standing.find((row) => row.kind === kind) ?? { kind, due: 0, failed: 0, oldestDueMs: 0 }),
              running: runner.running(kind)
            }))
          ),
          failed: (limit) => Effect.orDie(rows.failed(limit)),
          revive: (kind, key) => Effect.tap(Effect.orDie(rows.revive(kind, key)), () => Effect.sync(wake))
        })
      })
    )

  /** Runs what is due, as long as the layer lives. */
  static readonly runner = Layer.effectDiscard(Effect.flatMap(Jobs, (jobs) => Effect.forkScoped(jobs.run)))
}
