import { Deferred, Exit } from "effect"
import type * as CommitStatement from "./CommitStatement.ts"
import type { Commit, Committed, EventRow } from "./Journal.ts"

/** A commit with a caller that waits for its answer. */
export interface WaitingCommit {
  readonly commit: Commit
  /** Called each time before the database gets the commit. False: the commit is withdrawn. */
  readonly wanted: () => boolean
  /** The answer; null: the commit was withdrawn. */
  readonly done: Deferred.Deferred<Committed | null>
  /** How often a statement with this commit alone did not finish in time. */
  slow: number
  /** A statement may have carried it to the database. */
  isHandedOver: boolean
  /** It is in the database, and its caller gets that answer. */
  isWritten: boolean
}

/** The commits of one statement, and how long it may take. */
export interface Batch {
  readonly entries: ReadonlyArray<WaitingCommit>
  readonly limitMs: number
}

/**
 * The most commits of one statement. More of them would no longer make each cheaper, and all callers would wait longer:
 * for the statement, and for the thread that resumes all of them after it.
 */
export const batchLimit = 64

/**
 * Splits commits into batches. One that took too long by itself stays alone, so that it does not hold up others again.
 */
export const batchesOf = (entries: ReadonlyArray<WaitingCommit>, limitMs: number): ReadonlyArray<Batch> => {
  const prompt = entries.filter((entry) => entry.slow === 0)
  const chunks = Array.from({ length: Math.ceil(prompt.length / batchLimit) }, (_, nth) => ({
    entries: prompt.slice(nth * batchLimit, (nth + 1) * batchLimit),
    limitMs
  }))
  return [...chunks, ...entries.filter((entry) => entry.slow > 0).map((entry) => ({ entries: [entry], limitMs }))]
}

export const halves = ({ entries, limitMs }: Batch): ReadonlyArray<Batch> => {
  const middle = Math.ceil(entries.length / 2)
  return [
    { entries: entries.slice(0, middle), limitMs },
    { entries: entries.slice(middle), limitMs }
  ]
}

/** Withdraws the commits that are no longer wanted, while no statement has them, and gives the others. */
export const withoutUnwanted = (entries: ReadonlyArray<WaitingCommit>): ReadonlyArray<WaitingCommit> =>
  entries.filter((entry) => {
    if (entry.wanted()) return true
    withdraw(entry)
    return false
  })

/** Answers a commit of which nothing was written, and nothing will be. */
export const withdraw = ({ done }: WaitingCommit): void => void Deferred.doneUnsafe(done, Exit.succeed(null))

/** Answers a commit that is in the database. */
export const succeed = ({ commit, done }: WaitingCommit, answer: CommitStatement.Answer): void =>
  void Deferred.doneUnsafe(done, Exit.succeed(committed(commit, answer)))

/**
 * Answers commits that are in the database. Their callers resume in the next turn of the event loop, when the statement
 * of the next commits is on its way: so the database and this thread work at the same time.
 */
export const succeedSoon = (entries: ReadonlyArray<WaitingCommit>, answer: CommitStatement.Answer): void => {
  for (const entry of entries) entry.isWritten = true
  setImmediate(() => {
    for (const entry of entries) succeed(entry, answer)
  })
}

/** A written commit is left out, because its answer is on its way. */
export const die = (entries: ReadonlyArray<WaitingCommit>, cause: unknown): void => {
  for (const { done, isWritten } of entries) if (!isWritten) Deferred.doneUnsafe(done, Exit.die(cause))
}

export const eventsOf = (entries: ReadonlyArray<WaitingCommit>): ReadonlyArray<EventRow> =>
  entries.flatMap(({ commit }) => commit.events)

export const committed = (commit: Commit, answer: CommitStatement.Answer): Committed => {
  const last = commit.money.at(-1)
  const balance = last === undefined ? undefined : answer.balances?.[last.cause]
  return { balanceCents: balance ?? null }
}
