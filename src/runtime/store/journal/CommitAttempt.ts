import { Cause, Effect, Exit, Metric, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import { CrashPoint } from "../../process/CrashPoint.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as CommitStatement from "./CommitStatement.ts"
import * as ClaimedDeliveries from "./ClaimedDeliveries.ts"
import type { Commit } from "./Journal.ts"
import * as Outage from "../Outage.ts"
import type * as Ownership from "../owner/Ownership.ts"
import { StatementLimit } from "../StatementLimit.ts"
import * as Unanswered from "./Unanswered.ts"
import * as WaitingCommit from "./WaitingCommit.ts"
import type * as WriteOutage from "./WriteOutage.ts"
import * as WrittenCommits from "./WrittenCommits.ts"

/** The commit is larger than a statement may be. It is refused alone and holds up no other commit. */
export class CommitTooLarge extends Schema.TaggedError<CommitTooLarge>()("CommitTooLarge", { size: Schema.Number }) {
  override get message() {
    return `a commit of ${this.size} characters is larger than may be written (${sizeLimit})`
  }
}

/** The most characters of JSON in one statement, and therefore in one commit. */
const sizeLimit = 16 * 1024 * 1024

/** The halves of a batch that took too long get less time, so that others wait less for them. */
const halfOf = (limitMs: number): number => limitMs / 3

/** A commit is refused after this many separate statements that did not finish in time. */
const slowLimit = 3

/** The first wait before an unreachable database is asked again which commits it has. */
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

export const statement = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  held: ReadonlyMap<number, number>,
  commits: ReadonlyArray<Commit>,
  offer: ClaimedDeliveries.Offer
): Effect.fn.Return<CommitStatement.Answer, SqlError | CommitTooLarge> {
  const { parameters, text } = CommitStatement.make(held, commits, offer)
  const size = parameters.reduce((sum, parameter) => sum + parameter.length, 0)
  if (size > sizeLimit) return yield* new CommitTooLarge({ size })
  const [answer] = yield* sql.unsafe<CommitStatement.Answer>(text, parameters)
  // The statement always returns one row. Without it nothing shows that a commit is written.
  if (answer === undefined) return yield* Effect.die(new Error("the statement of a batch was answered without its row"))
  return answer
})

/** Makes one statement for a batch, and decides the outcome of each of its commits. */
export const make = Effect.fnUntraced(function* (options: {
  readonly sql: SqlClient.SqlClient
  readonly ownership: Effect.Success<ReturnType<typeof Ownership.take>>
  readonly outage: Effect.Success<ReturnType<typeof WriteOutage.make>>
  readonly listener: () => ClaimedDeliveries.DeliveryListener
  /** How long the statement of a single commit may take. */
  readonly limitMs: number
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
   * Handles a statement that wrote nothing because another process holds some of the partitions: commits of their
   * tenants die. Gives the others back; rows of no tenant go to a partition that is left.
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

  /** Answers the commits that the database has, and gives the others back. */
  const withoutWritten = Effect.fnUntraced(function* (entries: ReadonlyArray<WaitingCommit.WaitingCommit>) {
    const written = yield* WrittenCommits.find(
      sql,
      entries.map(({ commit }) => commit)
    )
    const known = { missing: null, homes: null, balances: written.balances, endpoints: null, handed: null }
    return entries.filter((entry) => {
      if (!written.has(entry.commit)) return true
      WaitingCommit.succeed(entry, known)
      return false
    })
  })

  /**
   * Settles a statement without an answer. Its outcome is known when its session has ended, because it writes nothing
   * after that: then the commits that it wrote are answered. Until then no caller gets an answer.
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

  /** A commit that failed alone dies. A batch is halved, to find the commits that do not fail. */
  const refused = (batch: WaitingCommit.Batch, cause: Cause.Cause<unknown>) => {
    if (batch.entries.length > 1) return Effect.succeed(WaitingCommit.halves(batch))
    WaitingCommit.die(batch.entries, Cause.squash(cause))
    return Effect.as(Effect.logError("a commit was refused by the database", cause), [])
  }

  /** A batch that took too long is never repeated whole. A single commit is repeated after the others, a few times. */
  const slow = (entries: ReadonlyArray<WaitingCommit.WaitingCommit>): ReadonlyArray<WaitingCommit.Batch> => {
    const [only] = entries
    if (only === undefined) return []
    if (entries.length > 1) return WaitingCommit.halves({ entries, limitMs: halfOf(limitMs) })
    only.slow++
    if (only.slow < slowLimit) options.putBehind(only)
    else WaitingCommit.die(entries, new Error(`a commit was not written within ${limitMs} ms, ${slowLimit} times`))
    return []
  }

  /** Gives the commits that are still to be written. `meanwhile` runs repeatedly while an outcome cannot be read. */
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
    const offer = events.length === 0 ? ClaimedDeliveries.nothingOffered : options.listener().offer(events)
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

/** The message of Postgres, if there is one. */
const detailOf = (error: SqlError): string => {
  const { cause } = error.reason
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}
