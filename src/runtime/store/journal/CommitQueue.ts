import { Deferred, Effect, FiberSet } from "effect"
import * as AskTimeout from "../../actor/AskTimeout.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import * as CommitStatement from "./CommitStatement.ts"
import type { Commit, Committed } from "./Journal.ts"
import * as TurnBatches from "../TurnBatches.ts"
import * as WaitingCommit from "./WaitingCommit.ts"
import type * as WriteOutage from "./WriteOutage.ts"

/**
 * How long after a statement commits gather for the next one while nobody waits for one of them: a statement for one
 * costs the database more than twice what another commit in it does.
 */
const gatherMs = 6

/** So many commits are a statement that need not grow. */
const enough = 8

/** They gather while so many come within this time (160 a second), and else are written at once: the database has time. */
const busyMs = 50

/** How soon a database that is away is tried again. */
const firstWaitMs = 200
const longestWaitMs = 2_000

/** The writer has ended, and nobody can tell what became of a commit that the database was handed. */
export class JournalClosed extends Error {
  constructor() {
    super("the journal was closed before the outcome of a commit was known")
  }
}

/** Gives what is still to write of a batch; runs `meanwhile` while it waits for the database. */
type Attempt = (
  batch: WaitingCommit.Batch,
  meanwhile: Effect.Effect<void>
) => Effect.Effect<ReadonlyArray<WaitingCommit.Batch>>

/**
 * Where commits wait for their turn, and those who asked for them (src/README.md#one-writer). Tenants take turns: a
 * thousand commits of one delay another's one by a batch. Those of one tenant come in their order.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly outage: Effect.Success<ReturnType<typeof WriteOutage.make>>
  /** How long the statement of a batch may take. */
  readonly limitMs: number
  /** What writes a batch, given how to put a commit behind the others. */
  readonly attempt: (putBehind: (entry: WaitingCommit.WaitingCommit) => void) => Effect.Effect<Attempt>
}) {
  const { limitMs, outage } = options
  const asks = yield* AskTimeout.make(Effect.map(outage.unavailableForMs, (ms) => ms > 0))
  const forkAsk = yield* FiberSet.makeRuntime()
  /** Those that somebody waits for. */
  const open = new Set<WaitingCommit.WaitingCommit>()
  let isClosed = false
  const attempt = yield* options.attempt((entry) => offer(entry))

  const write = Effect.fnUntraced(function* (
    first: ReadonlyArray<WaitingCommit.WaitingCommit>,
    behind: Effect.Effect<ReadonlyArray<WaitingCommit.WaitingCommit>>
  ) {
    let todo: ReadonlyArray<WaitingCommit.Batch> = WaitingCommit.batchesOf(first, limitMs)
    let parked: ReadonlyArray<WaitingCommit.WaitingCommit> = []
    // In an outage nothing piles up: what comes is withdrawn when its asker has waited long enough.
    const park = Effect.map(behind, (came) => {
      parked = WaitingCommit.withoutUnwanted([...parked, ...came])
    })
    let waitMs = 0
    for (let [batch] = todo; batch !== undefined; [batch] = todo) {
      const wanted = WaitingCommit.withoutUnwanted(batch.entries)
      for (const entry of wanted) entry.isHandedOver = true
      const left = wanted.length === 0 ? [] : yield* attempt({ ...batch, entries: wanted }, park)
      todo = [...left, ...todo.slice(1)]
      if (outage.isFailing()) {
        yield* park
        waitMs = Math.min(longestWaitMs, Math.max(firstWaitMs, waitMs * 2))
        yield* Effect.sleep(waitMs)
      }
      if (todo.length === 0 && parked.length > 0) {
        todo = WaitingCommit.batchesOf(parked, limitMs)
        parked = []
      }
    }
  })

  // Behind the end of the writer: nobody waits for it any more.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      for (const entry of open)
        if (entry.isHandedOver) WaitingCommit.die([entry], new JournalClosed())
        else WaitingCommit.withdraw(entry)
    })
  )
  const batches = yield* TurnBatches.make<WaitingCommit.WaitingCommit>({
    name: "the journal writer",
    limit: WaitingCommit.batchLimit,
    longerMs: gatherMs,
    enough,
    busyMs,
    serve: write,
    died: (entry, defect) => WaitingCommit.die([entry], defect)
  })
  const offer = (entry: WaitingCommit.WaitingCommit): void => batches.offer(holderOf(entry.commit), entry)

  // The statement runs whatever becomes of the caller.
  const commitWhile = (commit: Commit, wanted: () => boolean, isAsked: boolean): Effect.Effect<Committed | null> =>
    Effect.suspend(() => {
      if (isClosed) return Effect.succeed(null)
      const done = Deferred.makeUnsafe<Committed | null>()
      const entry = { commit, wanted, done, slow: 0, isHandedOver: false, isWritten: false }
      open.add(entry)
      offer(entry)
      if (isAsked) batches.hurry()
      return Effect.ensuring(
        Deferred.await(done),
        Effect.sync(() => open.delete(entry))
      )
    })

  return {
    commitWhile,
    commit: (commit: Commit): Effect.Effect<Committed> =>
      Effect.flatMap(commitWhile(commit, always, false), (written) =>
        written === null ? Effect.die(new JournalClosed()) : Effect.succeed(written)
      ),
    commitAsked: (commit: Commit): Effect.Effect<Committed, ApiError> =>
      Effect.suspend(() => {
        if (isClosed) return Effect.fail(AskTimeout.unavailable)
        const done = Deferred.makeUnsafe<Committed, ApiError>()
        const answer = Effect.flatMap(
          commitWhile(commit, () => asks.claim(done), true),
          (written) => (written === null ? Effect.fail(AskTimeout.unavailable) : Effect.succeed(written))
        )
        forkAsk(Effect.andThen(Effect.exit(answer), (exit) => Effect.sync(() => Deferred.doneUnsafe(done, exit))))
        return asks.wait(done)
      }),
    waiting: () => open.size,
    /** Completes when nothing waits to be written. */
    idle: batches.idle
  } as const
})

/** Whose turn a commit has. What is of no tenant is of the key that asked for it, or the service's own. */
const holderOf = (commit: Commit): string =>
  commit.entities[0]?.tenantId ?? CommitStatement.tenantsOf(commit)[0] ?? commit.receipt?.owner ?? ""

const always = () => true
