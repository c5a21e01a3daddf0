import { Cause, Effect, Exit, Metric, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import { CrashPoint } from "../../process/CrashPoint.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as CommitStatement from "./CommitStatement.ts"
import * as Handover from "./Handover.ts"
import type { Commit } from "./Journal.ts"
import * as Outage from "../Outage.ts"
import type * as Ownership from "../owner/Ownership.ts"
import { StatementLimit } from "../StatementLimit.ts"
import * as Unanswered from "./Unanswered.ts"
import * as WaitingCommit from "./WaitingCommit.ts"
import type * as WriteOutage from "./WriteOutage.ts"
import * as WrittenCommits from "./WrittenCommits.ts"

/** One commit is more than a statement may hold. It is refused by itself, and holds up nobody. */
export class CommitTooLarge extends Schema.TaggedError<CommitTooLarge>()("CommitTooLarge", { size: Schema.Number }) {
  override get message() {
    return `a commit of ${this.size} characters is larger than may be written (${sizeLimit})`
  }
}

/** Characters of JSON in one statement, and so the most that one commit may have. */
const sizeLimit = 16 * 1024 * 1024

/** The halves of a batch that took too long get less time, so that others wait less for them. */
const halfOf = (limitMs: number): number => limitMs / 3

/** A commit that so many statements of its own could not write in time is refused. */
const slowLimit = 3

/** How soon a database that is away is asked again what it has. */
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

/** Writes commits as one statement. */
export const statement = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  held: ReadonlyMap<number, number>,
  commits: ReadonlyArray<Commit>,
  offer: Handover.Offer
): Effect.fn.Return<CommitStatement.Answer, SqlError | CommitTooLarge> {
  const { parameters, text } = CommitStatement.make(held, commits, offer)
  const size = parameters.reduce((sum, parameter) => sum + parameter.length, 0)
  if (size > sizeLimit) return yield* new CommitTooLarge({ size })
  const [answer] = yield* sql.unsafe<CommitStatement.Answer>(text, parameters)
  return answer ?? noAnswer
})

/** One statement for a batch, and what becomes of each of its commits. */
export const make = Effect.fnUntraced(function* (options: {
  readonly sql: SqlClient.SqlClient
  readonly ownership: Effect.Success<ReturnType<typeof Ownership.take>>
  readonly outage: Effect.Success<ReturnType<typeof WriteOutage.make>>
  readonly listener: () => Handover.DeliveryListener
  /** How long a commit's own statement may take. */
  readonly limitMs: number
  /** Puts a commit behind the others. */
  readonly putBehind: (entry: WaitingCommit.WaitingCommit) => void
}) {
  const { limitMs, outage, ownership, sql } = options
  const crash = yield* CrashPoint

  const finish = (
    entries: ReadonlyArray<WaitingCommit.WaitingCommit>,
    answer: CommitStatement.Answer,
    sinceMs: number
  ): void => {
    crash("after_commit")
    WaitingCommit.succeedSoon(entries, answer)
    const { endpoints, handed } = answer
    if (endpoints === null && handed === null) return
    const events = WaitingCommit.eventsOf(entries)
    options
      .listener()
      .made({ endpoints: endpoints ?? [], handed: CommitStatement.handed(handed ?? [], events), sinceMs })
  }

  /**
   * The statement wrote nothing, because another process holds some of the partitions: the commits of their tenants
   * die. Gives back the others; rows of no tenant go to a partition that is left.
   */
  const withoutLost = (
    entries: ReadonlyArray<WaitingCommit.WaitingCommit>,
    missing: ReadonlyArray<number>,
    answer: CommitStatement.Answer
  ) => {
    const losses = new Map(missing.map((partition) => [partition, ownership.lose(partition)]))
    return entries.filter((entry) => {
      const loss = CommitStatement.tenantsOf(entry.commit)
        .map((tenant) => losses.get(answer.homes?.[tenant] ?? -1))
        .find((loss) => loss !== undefined)
      if (loss !== undefined) WaitingCommit.die([entry], loss)
      return loss === undefined
    })
  }

  /** Answers those that the database has. */
  const withoutWritten = Effect.fnUntraced(function* (entries: ReadonlyArray<WaitingCommit.WaitingCommit>) {
    const written = yield* WrittenCommits.find(
      sql,
      entries.map(({ commit }) => commit)
    )
    const known = { ...noAnswer, balances: written.balances }
    return entries.filter((entry) => {
      if (!written.has(entry.commit)) return true
      WaitingCommit.succeed(entry, known)
      return false
    })
  })

  /**
   * What became of a statement without an answer is known when its session has ended: then those are answered that
   * it wrote, and it writes no other. Until then nobody is told anything.
   */
  const settled = (
    entries: ReadonlyArray<WaitingCommit.WaitingCommit>,
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

  /** A commit that has failed by itself dies of it; of several, those that did not fail are found by halves. */
  const refused = (batch: WaitingCommit.Batch, cause: Cause.Cause<unknown>) => {
    if (batch.entries.length > 1) return Effect.succeed(WaitingCommit.halves(batch))
    WaitingCommit.die(batch.entries, Cause.squash(cause))
    return Effect.as(Effect.logError("a commit was refused by the database", cause), [])
  }

  /** A batch that took too long is never repeated whole. One commit is tried again behind others, a few times. */
  const slow = (entries: ReadonlyArray<WaitingCommit.WaitingCommit>): ReadonlyArray<WaitingCommit.Batch> => {
    const [only] = entries
    if (only === undefined) return []
    if (entries.length > 1) return WaitingCommit.halves({ entries, limitMs: halfOf(limitMs) })
    only.slow++
    if (only.slow < slowLimit) options.putBehind(only)
    else WaitingCommit.die(entries, new Error(`a commit was not written within ${limitMs} ms, ${slowLimit} times`))
    return []
  }

  /** Gives what is still to write. `meanwhile` runs again and again while an outcome cannot be read. */
  return Effect.fnUntraced(function* (
    batch: WaitingCommit.Batch,
    meanwhile: Effect.Effect<void>
  ): Effect.fn.Return<ReadonlyArray<WaitingCommit.Batch>> {
    const { entries } = batch
    const holding = ownership.held.size
    if (holding === 0) {
      WaitingCommit.die(entries, ownership.lastLoss())
      return []
    }
    crash("before_commit")
    const sinceMs = yield* outage.began
    const events = WaitingCommit.eventsOf(entries)
    const offer = events.length === 0 ? Handover.nothingOffered : options.listener().offer(events)
    const exit = yield* statement(
      sql,
      ownership.held,
      entries.map(({ commit }) => commit),
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
      WaitingCommit.die(rest, new Error("a commit names a tenant by what is not its id"))
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
})

/** The words of Postgres, where it said any. */
const detailOf = (error: SqlError): string => {
  const { cause } = error.reason
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}

const noAnswer: CommitStatement.Answer = { missing: null, homes: null, balances: null, endpoints: null, handed: null }
