import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Supervised from "../../process/Supervised.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as CommitAttempt from "./CommitAttempt.ts"
import { CommitClient } from "../CommitClient.ts"
import * as CommitQueue from "./CommitQueue.ts"
import { Journal } from "./Journal.ts"
import * as ClaimedDeliveries from "./ClaimedDeliveries.ts"
import * as JournalReader from "./JournalReader.ts"
import * as Ownership from "../owner/Ownership.ts"
import * as WaitingCommit from "./WaitingCommit.ts"
import { WriteFence } from "../owner/WriteFence.ts"
import * as WriteOutage from "./WriteOutage.ts"

/** How long closing waits for an unreachable database. Commits that still wait then were never acknowledged. */
const closingTimeout = "10 seconds"

/**
 * Takes partitions of the journal (raises their epochs), then writes batches over all of them until the layer closes:
 * `CommitQueue` holds the waiting commits, `CommitAttempt` is one statement and its outcome, `WriteOutage` tracks an
 * outage.
 *
 * Closing waits for the queued commits. `onLost` runs once for each partition that another process took over: later
 * commits there die, and the others continue.
 */
export const layer = <E = never>(options: {
  readonly partitions: ReadonlyArray<number>
  /** `left`: the partitions that are still held. */
  readonly onLost: (lost: Ownership.JournalLost, left: ReadonlyArray<number>) => void
  /** The time between two heartbeats. Each of them also checks that the partitions are still held. */
  readonly heartbeatMs?: number
  /** How long the statement of a batch may take; shorter in tests. */
  readonly limitMs?: number
  /** Waits until another process that owns the partitions has ended. Absent: the partitions are taken at once. */
  readonly standBy?: Ownership.StandBy<E>
}) =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const shared = yield* SqlClient.SqlClient
      const sql = (yield* CommitClient) ?? shared
      const fence = yield* WriteFence
      const { heartbeatMs = 2_000, limitMs = 10_000 } = options
      const listeners: Array<(partition: number) => void> = []
      const ownership = yield* Ownership.take(sql, {
        partitions: options.partitions,
        heartbeatMs,
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

      const outage = yield* WriteOutage.make(sql)
      yield* Supervised.fork("the watch over an outage", outage.watch)
      let listener: ClaimedDeliveries.DeliveryListener = ClaimedDeliveries.nobodyListens
      const queue = yield* CommitQueue.make({
        outage,
        limitMs,
        attempt: (putBehind) =>
          CommitAttempt.make({ sql, ownership, outage, listener: () => listener, limitMs, putBehind })
      })

      yield* Effect.addFinalizer(() =>
        ownership.held.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(queue.idle, closingTimeout))
      )

      return Journal.of({
        ...queue,
        commitWithin: Effect.fnUntraced(function* (commit) {
          if (ownership.held.size === 0) return yield* Effect.die(ownership.lastLoss())
          const answer = yield* Effect.orDie(
            CommitAttempt.statement(shared, ownership.held, [commit], ClaimedDeliveries.nothingOffered)
          )
          const [missing] = answer.missing ?? []
          if (missing !== undefined) return yield* Effect.die(ownership.lose(missing))
          return { ...WaitingCommit.committed(commit, answer), endpoints: answer.endpoints ?? [] }
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
