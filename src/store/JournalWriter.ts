import { Cause, Deferred, Effect, Exit, FiberSet, Layer, Metric, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import * as AskTimeout from "../actor/AskTimeout.ts"
import { CrashPoint } from "../actor/CrashPoint.ts"
import * as Supervised from "../actor/Supervised.ts"
import type { ApiError } from "../domain/ApiError.ts"
import * as Monotonic from "../domain/Monotonic.ts"
import * as Batches from "./Batches.ts"
import { CommitClient } from "./CommitClient.ts"
import * as CommitStatement from "./CommitStatement.ts"
import { type Commit, type Committed, empty, type EventRow, Journal } from "./Journal.ts"
import * as Handover from "./Handover.ts"
import * as JournalReader from "./JournalReader.ts"
import * as Outage from "./Outage.ts"
import * as Ownership from "./Ownership.ts"
import { StatementLimit } from "./StatementLimit.ts"
import * as Unanswered from "./Unanswered.ts"
import { WriteFence } from "./WriteFence.ts"
import * as WriteOutage from "./WriteOutage.ts"
import * as WrittenCommits from "./WrittenCommits.ts"

/** One commit is more than a statement may hold. It is refused by itself, and holds up nobody. */
export class CommitTooLarge extends Schema.TaggedError<CommitTooLarge>()("CommitTooLarge", { size: Schema.Number }) {
  override get message() {
    return `a commit of ${this.size} characters is larger than may be written (${sizeLimit})`
  }
}

interface Waiting {
  readonly commit: Commit
  readonly wanted: () => boolean
  readonly done: Deferred.Deferred<Committed | null>
  /** How often it had a statement of its own that was not through in time. */
  slow: number
}

/** Commits that go into one statement, and how long that may take. */
interface Batch {
  readonly entries: ReadonlyArray<Waiting>
  readonly limitMs: number
}

/** Commits of one statement. */
const batchLimit = 256

/** Characters of JSON in one statement, and so the most that one commit may have. */
const sizeLimit = 16 * 1024 * 1024

/** How long a statement may take; the halves of one that took longer get less, so that others wait less for them. */
const limitMsOtherwise = 10_000
const halfOf = (limitMs: number): number => limitMs / 3

/** A commit that so many statements of its own could not write in time is refused. */
const slowLimit = 3

/** How soon a database that is away is tried again. */
const firstWaitMs = 200
const longestWaitMs = 2_000

const durations = Metric.histogram("journal_commit_ms", {
  description: "How long the statement of a batch takes, milliseconds, answered or not",
  boundaries: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
})
const sizes = Metric.histogram("journal_batch_commits", {
  description: "Commits of a statement",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

/** How long closing waits for an unreachable database. Commits that still wait then were never acknowledged. */
const closingTimeout = "10 seconds"

/**
 * Takes partitions of the journal (raises their epochs), then writes batches over all of them until the layer closes.
 *
 * Closing waits for what is queued. `onLost` runs once for each partition that another process took over: commits there
 * die from then on, and the others go on.
 */
export const layer = <E = never>(options: {
  readonly partitions: ReadonlyArray<number>
  /** `left`: the partitions that are still held. */
  readonly onLost: (lost: Ownership.JournalLost, left: ReadonlyArray<number>) => void
  /** Between two signs of life. Each of them also checks that the partitions are still ours. */
  readonly heartbeatMs?: number
  /** How long the statement of a batch may take; tests wait less. */
  readonly limitMs?: number
  /** Waits until another process that owns the partitions has ended; without it they are taken at once. */
  readonly standBy?: Ownership.StandBy<E>
}) =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const shared = yield* SqlClient.SqlClient
      const sql = (yield* CommitClient) ?? shared
      const crash = yield* CrashPoint
      const fence = yield* WriteFence
      const listeners: Array<(partition: number) => void> = []
      const ownership = yield* Ownership.take(sql, {
        partitions: options.partitions,
        heartbeatMs: options.heartbeatMs ?? 2_000,
        ...(options.standBy === undefined ? {} : { standBy: options.standBy }),
        onLost: (lost) => {
          for (const told of listeners) told(lost.partition)
          options.onLost(lost, partitions())
        }
      })
      fence.set({
        held: ownership.held,
        lost: () => {
          const losses = partitions().map((partition) => ownership.lose(partition))
          return losses[0] ?? ownership.lastLoss() ?? new Ownership.JournalLost({ partition: 0, epoch: null })
        }
      })
      const partitions = (): ReadonlyArray<number> => [...ownership.held.keys()]

      const { limitMs = limitMsOtherwise } = options
      const outage = yield* WriteOutage.make(sql)
      yield* Supervised.fork("the watch over an outage", outage.watch)
      let waiting = 0
      const asks = yield* AskTimeout.make(Effect.map(outage.unavailableForMs, (ms) => ms > 0))
      const forkAsk = yield* FiberSet.makeRuntime()
      let listener: Handover.DeliveryListener = Handover.nobodyListens

      const run = (
        batch: ReadonlyArray<Commit>,
        offer: Handover.Offer,
        client = sql
      ): Effect.Effect<CommitStatement.Answer, SqlError | CommitTooLarge> =>
        Effect.suspend((): Effect.Effect<CommitStatement.Answer, SqlError | CommitTooLarge> => {
          const { parameters, text } = CommitStatement.make(ownership.held, batch, offer)
          const size = parameters.reduce((sum, parameter) => sum + parameter.length, 0)
          if (size > sizeLimit) return Effect.fail(new CommitTooLarge({ size }))
          return Effect.map(client.unsafe<CommitStatement.Answer>(text, parameters), (rows) => rows[0] ?? noAnswer)
        })

      /** A commit that nobody wants any more is withdrawn here, while no statement has it. */
      const withoutUnwanted = (batch: ReadonlyArray<Waiting>): ReadonlyArray<Waiting> =>
        batch.filter(({ done, wanted }) => {
          if (wanted()) return true
          Deferred.doneUnsafe(done, Exit.succeed(null))
          return false
        })

      const die = (batch: ReadonlyArray<Waiting>, cause: unknown): void => {
        for (const { done } of batch) Deferred.doneUnsafe(done, Exit.die(cause))
      }

      const finish = (batch: ReadonlyArray<Waiting>, answer: CommitStatement.Answer, sinceMs: number): void => {
        crash("after_commit")
        for (const { commit, done } of batch) Deferred.doneUnsafe(done, Exit.succeed(committed(commit, answer)))
        const { endpoints, handed } = answer
        if (endpoints === null && handed === null) return
        const events = eventsOf(batch)
        listener.made({ endpoints: endpoints ?? [], handed: CommitStatement.handed(handed ?? [], events), sinceMs })
      }

      /**
       * The statement wrote nothing, because another process holds some of the partitions: the commits of their tenants
       * die. Gives back the others; rows of no tenant go to a partition that is left.
       */
      const withoutLost = (
        batch: ReadonlyArray<Waiting>,
        missing: ReadonlyArray<number>,
        answer: CommitStatement.Answer
      ) => {
        const losses = new Map(missing.map((partition) => [partition, ownership.lose(partition)]))
        return batch.filter(({ commit, done }) => {
          const loss = CommitStatement.tenantsOf(commit)
            .map((tenant) => losses.get(answer.homes?.[tenant] ?? -1))
            .find((loss) => loss !== undefined)
          if (loss !== undefined) Deferred.doneUnsafe(done, Exit.die(loss))
          return loss === undefined
        })
      }

      /** Answers those that the database has. */
      const withoutWritten = Effect.fnUntraced(function* (entries: ReadonlyArray<Waiting>) {
        const written = yield* WrittenCommits.find(
          sql,
          entries.map(({ commit }) => commit)
        )
        const known = { ...noAnswer, balances: written.balances }
        return entries.filter(({ commit, done }) => {
          if (!written.has(commit)) return true
          Deferred.doneUnsafe(done, Exit.succeed(committed(commit, known)))
          return false
        })
      })

      /**
       * What became of a statement without an answer is known when its session has ended: then those are answered that
       * it wrote, and it writes no other. Until then nobody is told anything.
       */
      const settled = (
        entries: ReadonlyArray<Waiting>,
        lost: Unanswered.Unanswered | null,
        meanwhile: Effect.Effect<void>
      ) => {
        let waitMs = firstWaitMs
        return Effect.andThen(lost === null ? Effect.void : lost.ended, withoutWritten(entries)).pipe(
          Effect.catch(() => {
            waitMs = Math.min(longestWaitMs, waitMs * 2)
            return Effect.as(Effect.andThen(meanwhile, Effect.sleep(waitMs)), null)
          }),
          Effect.repeat({ while: (rest) => rest === null })
        )
      }

      const halves = ({ entries, limitMs }: Batch): ReadonlyArray<Batch> => {
        const middle = Math.ceil(entries.length / 2)
        return [
          { entries: entries.slice(0, middle), limitMs },
          { entries: entries.slice(middle), limitMs }
        ]
      }

      /** A commit that has failed by itself dies of it; of several, those that did not fail are found by halves. */
      const refused = (batch: Batch, cause: Cause.Cause<unknown>) => {
        if (batch.entries.length > 1) return Effect.succeed(halves(batch))
        die(batch.entries, Cause.squash(cause))
        return Effect.as(Effect.logError("a commit was refused by the database", cause), [])
      }

      /** A batch that took too long is never repeated whole. One commit is tried again behind others, a few times. */
      const slow = (entries: ReadonlyArray<Waiting>): ReadonlyArray<Batch> => {
        const [only] = entries
        if (only === undefined) return []
        if (entries.length > 1) return halves({ entries, limitMs: halfOf(limitMs) })
        only.slow++
        if (only.slow < slowLimit) batches.offer(only)
        else die(entries, new Error(`a commit was not written within ${limitMs} ms, ${slowLimit} times`))
        return []
      }

      /** One statement. Gives what is still to write. */
      const attempt = Effect.fnUntraced(function* (
        batch: Batch,
        meanwhile: Effect.Effect<void>
      ): Effect.fn.Return<ReadonlyArray<Batch>> {
        const { entries } = batch
        const lastLoss = ownership.lastLoss()
        const holding = ownership.held.size
        if (holding === 0) {
          die(entries, lastLoss)
          return []
        }
        crash("before_commit")
        const sinceMs = yield* outage.began
        const events = eventsOf(entries)
        const offer = events.length === 0 ? Handover.nothingOffered : listener.offer(events)
        const exit = yield* run(
          entries.map((entry) => entry.commit),
          offer
        ).pipe(Effect.provideService(StatementLimit, batch.limitMs), Effect.exit)
        yield* Metric.update(durations, (yield* Monotonic.now) - sinceMs)
        if (Exit.isSuccess(exit)) {
          yield* outage.written
          const { missing } = exit.value
          if (missing === null) {
            yield* Metric.update(sizes, entries.length)
            finish(entries, exit.value, sinceMs)
            return []
          }
          const rest = withoutLost(entries, missing, exit.value)
          const stuck = rest.length === entries.length && ownership.held.size === holding
          if (!stuck) return [{ ...batch, entries: rest }]
          die(rest, new Error("a commit names a tenant by what is not its id"))
          return []
        }
        const failure = Option.getOrNull(Cause.findErrorOption(exit.cause))
        if (!(failure instanceof SqlError) || !Outage.is(failure)) return yield* refused(batch, exit.cause)
        const lost = Unanswered.of(failure)
        yield* outage.failed(detailOf(failure))
        const rest = lost?.wasSent === false ? entries : yield* settled(entries, lost, meanwhile)
        if (lost?.wasSlow === true && (entries.length > 1 || (yield* outage.canWrite))) return slow(rest)
        return [{ ...batch, entries: rest }]
      })

      const write = Effect.fnUntraced(function* (
        first: ReadonlyArray<Waiting>,
        behind: Effect.Effect<ReadonlyArray<Waiting>>
      ) {
        let todo: ReadonlyArray<Batch> = batchesOf(first, limitMs)
        let parked: ReadonlyArray<Waiting> = []
        // In an outage nothing piles up: what comes is withdrawn when its asker has waited long enough.
        const park = Effect.map(behind, (came) => {
          parked = withoutUnwanted([...parked, ...came])
        })
        let waitMs = 0
        for (let [batch] = todo; batch !== undefined; [batch] = todo) {
          const wanted = withoutUnwanted(batch.entries)
          const left = wanted.length === 0 ? [] : yield* attempt({ ...batch, entries: wanted }, park)
          todo = [...left, ...todo.slice(1)]
          if (outage.isFailing()) {
            yield* park
            waitMs = Math.min(longestWaitMs, Math.max(firstWaitMs, waitMs * 2))
            yield* Effect.sleep(waitMs)
          }
          if (todo.length === 0 && parked.length > 0) {
            todo = batchesOf(parked, limitMs)
            parked = []
          }
        }
      })

      const batches = yield* Batches.make<Waiting>({
        name: "the journal writer",
        limit: batchLimit,
        serve: write,
        died: ({ done }, defect) => void Deferred.doneUnsafe(done, Exit.die(defect))
      })

      // The statement runs whatever becomes of the caller.
      const commitWhile = (commit: Commit, wanted: () => boolean): Effect.Effect<Committed | null> =>
        Effect.suspend(() => {
          waiting++
          return Batches.ask<Waiting, Committed | null>(batches, (done) => ({ commit, wanted, done, slow: 0 }))
        }).pipe(Effect.ensuring(Effect.sync(() => waiting--)))

      const commit = (rows: Commit): Effect.Effect<Committed> =>
        Effect.map(commitWhile(rows, always), (written) => written ?? nothingKnown)

      // The queue is in order: once an empty commit is through, everything before it is.
      yield* Effect.addFinalizer(() =>
        ownership.held.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(commit(empty), closingTimeout))
      )

      return Journal.of({
        commit,
        commitWhile,
        commitAsked: (commit) =>
          Effect.suspend(() => {
            const done = Deferred.makeUnsafe<Committed, ApiError>()
            const answer = Effect.flatMap(
              commitWhile(commit, () => asks.claim(done)),
              (written) => (written === null ? Effect.fail(AskTimeout.unavailable) : Effect.succeed(written))
            )
            forkAsk(Effect.andThen(Effect.exit(answer), (exit) => Effect.sync(() => Deferred.doneUnsafe(done, exit))))
            return asks.wait(done)
          }),
        commitWithin: Effect.fnUntraced(function* (commit) {
          if (ownership.held.size === 0) return yield* Effect.die(ownership.lastLoss())
          const answer = yield* Effect.orDie(run([commit], Handover.nothingOffered, shared))
          const [missing] = answer.missing ?? []
          if (missing !== undefined) return yield* Effect.die(ownership.lose(missing))
          return { ...committed(commit, answer), endpoints: answer.endpoints ?? [] }
        }),
        holdWithin: Effect.fnUntraced(function* (partition) {
          const epoch = ownership.held.get(partition)
          if (epoch !== undefined) {
            const rows = yield* Effect.orDie(
              shared`SELECT FROM journal_owner WHERE partition = ${partition} AND epoch = ${epoch} FOR KEY SHARE`
            )
            if (rows.length === 1) return epoch
          }
          return yield* Effect.die(ownership.lose(partition))
        }),
        wake: (endpoints) =>
          Effect.map(Monotonic.now, (sinceMs) => {
            if (endpoints.length > 0) listener.made({ endpoints, handed: [], sinceMs })
          }),
        onDeliveries: (to) =>
          Effect.sync(() => {
            listener = to
          }),
        unavailableForMs: outage.unavailableForMs,
        canWrite: outage.canWrite,
        waiting: () => waiting,
        ...JournalReader.make(sql),
        partitions,
        onPartitionLost: (told) => Effect.sync(() => void listeners.push(told)),
        originMs: ownership.originMs,
        epoch: (partition) => ownership.held.get(partition) ?? null,
        recovered: (partition) => Effect.sync(() => ownership.recovered(partition)),
        lastHeartbeatAt: ownership.lastHeartbeatAt
      })
    })
  )

/** A commit that took too long by itself does not hold up a whole batch again. */
const batchesOf = (entries: ReadonlyArray<Waiting>, limitMs: number): ReadonlyArray<Batch> => {
  const prompt = entries.filter((entry) => entry.slow === 0)
  const chunks = Array.from({ length: Math.ceil(prompt.length / batchLimit) }, (_, nth) => ({
    entries: prompt.slice(nth * batchLimit, (nth + 1) * batchLimit),
    limitMs
  }))
  return [...chunks, ...entries.filter((entry) => entry.slow > 0).map((entry) => ({ entries: [entry], limitMs }))]
}

/** The words of Postgres, where it said any. */
const detailOf = (error: SqlError): string => {
  const { cause } = error.reason
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}

const noAnswer: CommitStatement.Answer = { missing: null, homes: null, balances: null, endpoints: null, handed: null }

const eventsOf = (batch: ReadonlyArray<Waiting>): ReadonlyArray<EventRow> =>
  batch.flatMap(({ commit }) => commit.events)

const always = () => true
const nothingKnown: Committed = { balanceCents: null }

const committed = (commit: Commit, answer: CommitStatement.Answer): Committed => {
  const last = commit.money.at(-1)
  const balance = last === undefined ? undefined : answer.balances?.[last.cause]
  return { balanceCents: balance ?? null }
}
