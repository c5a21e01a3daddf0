import { Deferred, Effect, FiberSet } from "effect"
import * as AskTimeout from "../../actor/AskTimeout.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import * as WritePermit from "../../process/WritePermit.ts"
import * as CommitStatement from "./CommitStatement.ts"
import type { Commit, Committed } from "./Journal.ts"
import * as TurnBatches from "../TurnBatches.ts"
import * as WaitingCommit from "./WaitingCommit.ts"
import type * as WriteOutage from "./WriteOutage.ts"

/**
 * How long after a statement commits gather for the next one, in milliseconds, while no caller waits for one of them. A
 * statement for one commit costs the database more than twice as much as a further commit in a statement.
 */
const gatherMs = 6

/** With this many commits waiting, a statement is not delayed for more. */
const enough = 8

/**
 * Commits gather only while `enough` of them come within this time (160 a second). Otherwise they are written at once,
 * because the database is not busy.
 */
const busyMs = 50

const firstWaitMs = 200
const longestWaitMs = 2_000

/** The writer has ended, and the outcome of a commit that the database may have is unknown. */
class JournalClosed extends Error {
  constructor() {
    super("the journal was closed before the outcome of a commit was known")
  }
}

/** Gives the commits of a batch that are still to be written; runs `meanwhile` while it waits for the database. */
type Attempt = (
  batch: WaitingCommit.Batch,
  meanwhile: Effect.Effect<void>
) => Effect.Effect<ReadonlyArray<WaitingCommit.Batch>>

/**
 * The queue of commits before their statement, and of the callers that wait for them
 * (src/runtime/README.md#one-writer). Tenants take turns: a thousand commits of one delay another's commit by one
 * batch. The commits of a tenant keep their order.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly outage: Effect.Success<ReturnType<typeof WriteOutage.make>>
  readonly limitMs: number
  /** Makes the function that writes a batch. It gets one that moves a commit to the end of the queue. */
  readonly attempt: (putBehind: (entry: WaitingCommit.WaitingCommit) => void) => Effect.Effect<Attempt>
}) {
  const { limitMs, outage } = options
  const asks = yield* AskTimeout.make(Effect.map(outage.unavailableForMs, (ms) => ms > 0))
  const forkAsk = yield* FiberSet.makeRuntime()
  /** The commits that a caller waits for. */
  const open = new Set<WaitingCommit.WaitingCommit>()
  let isClosed = false
  const attempt = yield* options.attempt((entry) => offer(entry))

  const write = Effect.fnUntraced(function* (
    first: ReadonlyArray<WaitingCommit.WaitingCommit>,
    behind: Effect.Effect<ReadonlyArray<WaitingCommit.WaitingCommit>>
  ) {
    let todo: ReadonlyArray<WaitingCommit.Batch> = WaitingCommit.batchesOf(first, limitMs)
    let parked: ReadonlyArray<WaitingCommit.WaitingCommit> = []
    // The queue does not grow in an outage: a commit is withdrawn when its caller has waited long enough.
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

  // This runs after the writer has ended, so that no caller waits any more.
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

  // The commit stays in the queue even when its caller is interrupted.
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
    commitAsked: Effect.fnUntraced(function* (commit: Commit): Effect.fn.Return<Committed, ApiError> {
      const permit = yield* WritePermit.WritePermit
      const refused = yield* WritePermit.refusal(permit)
      if (refused !== null) return yield* refused
      const written = yield* Effect.suspend(() => {
        if (isClosed) return Effect.fail(AskTimeout.unavailable)
        const done = Deferred.makeUnsafe<Committed, ApiError>()
        const answer = Effect.flatMap(
          commitWhile(commit, () => asks.claim(done), true),
          (written) => (written === null ? Effect.fail(AskTimeout.unavailable) : Effect.succeed(written))
        )
        forkAsk(Effect.andThen(Effect.exit(answer), (exit) => Effect.sync(() => Deferred.doneUnsafe(done, exit))))
        return asks.wait(done)
      })
      WritePermit.used(permit)
      return written
    }),
    waiting: () => open.size,
    idle: batches.idle
  } as const
})

/** The tenant whose turn a commit takes. Without a tenant, it is the key that asked for it, or the service itself. */
const holderOf = (commit: Commit): string =>
  commit.entities[0]?.tenantId ?? CommitStatement.tenantsOf(commit)[0] ?? commit.receipt?.owner ?? ""

const always = () => true
