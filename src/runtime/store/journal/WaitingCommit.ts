import { Deferred, Exit } from "effect"
import type * as CommitStatement from "./CommitStatement.ts"
import type { Commit, Committed, EventRow } from "./Journal.ts"

/** A commit whose answer somebody waits for. */
export interface WaitingCommit {
  readonly commit: Commit
  /** Asked each time before the database gets it; false: it is withdrawn. */
  readonly wanted: () => boolean
  /** Null: it was withdrawn. */
  readonly done: Deferred.Deferred<Committed | null>
  /** How often it had a statement of its own that was not through in time. */
  slow: number
  /** A statement may have brought it to the database. */
  isHandedOver: boolean
  /** It is in the database, and whoever waits for it is told so. */
  isWritten: boolean
}

/** Commits that go into one statement, and how long that may take. */
export interface Batch {
  readonly entries: ReadonlyArray<WaitingCommit>
  readonly limitMs: number
}

/**
 * Commits of one statement: as many as a statement gains by. More of them would only make everybody wait longer, for
 * the statement, and for the thread that goes on with all of them when it is through.
 */
export const batchLimit = 64

/** A commit that took too long by itself does not hold up a whole batch again. */
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

/** A commit that nobody wants any more is withdrawn here, while no statement has it. */
export const withoutUnwanted = (entries: ReadonlyArray<WaitingCommit>): ReadonlyArray<WaitingCommit> =>
  entries.filter((entry) => {
    if (entry.wanted()) return true
    withdraw(entry)
    return false
  })

/** Nothing was written, and nothing will be. */
export const withdraw = ({ done }: WaitingCommit): void => void Deferred.doneUnsafe(done, Exit.succeed(null))

/** It is in the database. */
export const succeed = ({ commit, done }: WaitingCommit, answer: CommitStatement.Answer): void =>
  void Deferred.doneUnsafe(done, Exit.succeed(committed(commit, answer)))

/**
 * They are in the database. Whoever waits for one goes on in the next turn of the event loop, when the statement of the
 * commits behind them is on its way: so the database and this thread work at the same time.
 */
export const succeedSoon = (entries: ReadonlyArray<WaitingCommit>, answer: CommitStatement.Answer): void => {
  for (const entry of entries) entry.isWritten = true
  setImmediate(() => {
    for (const entry of entries) succeed(entry, answer)
  })
}

/** Of those that are written nothing else is said, whatever became of the writer. */
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
