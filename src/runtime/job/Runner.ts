import { Cause, Deferred, Effect, Exit, FiberSet, Schedule, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../domain/Id.ts"
import { Journal } from "../store/journal/Journal.ts"
import * as StatementLimit from "../store/StatementLimit.ts"
import * as JobAttempt from "./JobAttempt.ts"
import type { Job } from "./Job.ts"
import type { Claimed, JobRows } from "./JobRows.ts"

/** The longest error that a row keeps, in characters. */
const errorLimit = 500

/** A statement about a row is given up when it has no answer after this time. */
const answerWithin = "5 seconds"

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

const lostAttempts = "its process ended, or its outcome could not be written"

/**
 * Claims due rows and makes attempts at them, in one partition.
 *
 * A claim is a lease, made in a transaction that holds the partition's epoch. So a process that lost the partition
 * claims nothing, and its late writes about an old claim have no effect. When the process or the database goes away
 * before the outcome of an attempt is written, the attempt is made again after its lease.
 */
export const make = Effect.fnUntraced(function* (needs: {
  readonly rows: JobRows
  readonly partition: number
  readonly jobs: ReadonlyMap<string, Job>
  readonly onFree: () => void
}) {
  const { jobs, partition, rows } = needs
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  /** The attempts under way here, by `kind key`. */
  const running = new Map<string, { readonly row: Claimed; readonly done: Deferred.Deferred<void> }>()
  /** The tenant that had the last turn, by kind. */
  const lastTurn = new Map<string, TenantId>()
  const attempts = yield* FiberSet.make()
  // Claims are made one at a time, so that a claimed row is in `running` before the next claim looks there.
  const claiming = yield* Semaphore.make(1)

  const holding = <A, E>(use: (epoch: number) => Effect.Effect<A, E>) =>
    sql.withTransaction(Effect.flatMap(journal.holdWithin(partition), use))

  /** Begins the attempts. It is not interrupted after the claim, so that every registered row has its attempt. */
  const start = (claimed: ReadonlyArray<Claimed>) =>
    Effect.forEach(
      // An attempt that cannot be interrupted may outlive its lease here. It is not made twice.
      claimed.filter((row) => !running.has(idOf(row))),
      (row) => {
        running.set(idOf(row), { row, done: Deferred.makeUnsafe() })
        return FiberSet.run(attempts, attempt(row), { startImmediately: true })
      },
      { discard: true }
    )

  const runningOf = (kind: string): ReadonlyArray<Claimed> =>
    [...running.values()].flatMap(({ row }) => (row.kind === kind ? [row] : []))

  const claim = Effect.fnUntraced(function* (job: Job) {
    const underWay = runningOf(job.kind)
    const limit = job.concurrency - underWay.length
    if (limit <= 0) return
    const byTenant: Record<string, number> = {}
    for (const { tenantId } of underWay) if (tenantId !== null) byTenant[tenantId] = (byTenant[tenantId] ?? 0) + 1
    const claimed = yield* holding((epoch) =>
      rows.claim({
        kind: job.kind,
        limit,
        leaseMs: JobAttempt.leaseMs(job),
        epoch,
        running: byTenant,
        last: lastTurn.get(job.kind) ?? null
      })
    )
    const last = claimed.findLast(({ tenantId }) => tenantId !== null)
    if (last?.tenantId != null) lastTurn.set(job.kind, last.tenantId)
    yield* start(claimed)
  }, Effect.uninterruptible)

  /**
   * Writes an outcome, and repeats that until the lease is over. Between two repetitions, which an unreachable database
   * may cause, the process may stop (`restore`).
   */
  const write = (row: Claimed, next: JobAttempt.Next, leaseMs: number, restore: Restore) => {
    const once = Effect.timeout(Effect.asVoid(rows.settle(row, next)), answerWithin)
    const again = once.pipe(Effect.delay("1 second"), Effect.retry(Schedule.forever), Effect.timeoutOption(leaseMs))
    return once.pipe(
      Effect.catch(() => restore(again)),
      Effect.catchCause((cause) => {
        const lost = `the outcome of job ${idOf(row)} was not written`
        // A stop without a database loses nothing: the next process runs the job again when the lease is over.
        return Cause.hasInterruptsOnly(cause) ? Effect.logInfo(lost) : Effect.logError(lost, cause)
      })
    )
  }

  const settle = Effect.fnUntraced(function* (
    job: Job,
    row: Claimed,
    cause: Cause.Cause<unknown> | null,
    restore: Restore
  ) {
    const error = cause === null ? null : textOf(cause)
    const next = JobAttempt.after(job, row.attempt, error)
    if (cause !== null && next.type === "failed")
      yield* Effect.logError(`job ${idOf(row)} has failed for good after ${row.attempt} attempts`, cause)
    // A repetition of the same cause is not logged.
    else if (cause !== null && error !== row.lastError)
      yield* Effect.logWarning(`job ${idOf(row)} failed and is tried again`, cause)
    yield* write(row, next, JobAttempt.leaseMs(job), restore)
  })

  const giveBack = (row: Claimed) => Effect.ignore(Effect.timeout(rows.giveBack(row), answerWithin))

  /** Makes one attempt at a claimed row and writes its outcome. When it is interrupted, it gives the row back. */
  const attempt = (row: Claimed): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const job = jobs.get(row.kind)
        if (job === undefined) return
        // This would be one attempt too many. The processes of the earlier ones ended, or could not write their
        // outcomes.
        if (row.attempt > job.retry.attempts && job.everyMs === undefined)
          return yield* settle(job, row, Cause.die(lostAttempts), restore)
        const made = Effect.suspend(() => job.run(row)).pipe(StatementLimit.unhurried, Effect.timeout(job.timeoutMs))
        const exit = yield* Effect.exit(restore(made))
        if (Exit.isSuccess(exit)) return yield* settle(job, row, null, restore)
        if (Cause.hasInterruptsOnly(exit.cause)) return yield* giveBack(row)
        yield* settle(job, row, exit.cause, restore)
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            const entry = running.get(idOf(row))
            running.delete(idOf(row))
            if (entry !== undefined) Deferred.doneUnsafe(entry.done, Effect.void)
            needs.onFree()
          })
        )
      )
    )

  const recur = (kind: string, everyMs: number) => holding(() => rows.putRecurring(kind, everyMs))

  return {
    /**
     * Begins due rows that have a place. Gives the milliseconds until the nearest row is due; null when there is none.
     */
    look: Effect.gen(function* () {
      let nextMs: number | null = null
      for (const { inMs, kind } of yield* rows.nearest([...jobs.keys()])) {
        const job = jobs.get(kind)
        nextMs = Math.min(nextMs ?? Infinity, Math.max(0, inMs))
        if (job !== undefined && inMs <= 0) yield* claim(job)
        // The clock was set back, because the row is due later than it can have been put.
        if (job?.everyMs !== undefined && inMs > job.everyMs + JobAttempt.leaseMs(job))
          yield* recur(job.kind, job.everyMs)
      }
      return nextMs
    }).pipe(Semaphore.withPermits(claiming, 1)),
    idle: FiberSet.awaitEmpty(attempts),
    /** Interrupts every attempt, and waits until their rows are given back. */
    stop: FiberSet.clear(attempts),
    running: (kind: string): number => runningOf(kind).length,
    /** At the start, makes the rows due that an earlier process left claimed, and puts those of recurring jobs. */
    prepare: holding((epoch) =>
      Effect.andThen(
        rows.takeBack(epoch),
        Effect.forEach(
          jobs.values(),
          (job) => (job.everyMs === undefined ? Effect.void : Effect.asVoid(rows.putRecurring(job.kind, job.everyMs))),
          { discard: true }
        )
      )
    ),
    /** Makes an attempt at this row now if it is due, and waits for it or for the one that is under way. */
    runNow: Effect.fnUntraced(function* (job: Job, key: string) {
      const of = { kind: job.kind, key, leaseMs: JobAttempt.leaseMs(job) }
      yield* holding((epoch) => rows.claimOne({ ...of, epoch })).pipe(
        Effect.flatMap(start),
        Effect.uninterruptible,
        Semaphore.withPermits(claiming, 1)
      )
      const underWay = running.get(idOf({ kind: job.kind, key }))
      if (underWay !== undefined) yield* Deferred.await(underWay.done)
    })
  }
})

const idOf = ({ key, kind }: Pick<Claimed, "kind" | "key">): string => (key === kind ? kind : `${kind} ${key}`)

const textOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return (error instanceof Error ? error.message : String(error))
    .toWellFormed()
    .replaceAll("\0", "")
    .slice(0, errorLimit)
}
