import { Effect, Result, Schema, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Supervised from "../../process/Supervised.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as OwnerMachine from "./OwnerMachine.ts"
import * as OwnerRows from "./OwnerRows.ts"
import * as OwnerSession from "./OwnerSession.ts"

/** This process does not hold the partition (any more), so nothing may be written there. */
export class JournalLost extends Schema.TaggedError<JournalLost>()("JournalLost", {
  partition: Schema.Number,
  /** The epoch under which this process held it; null: it never did. */
  epoch: Schema.NullOr(Schema.Number)
}) {
  override get message() {
    return this.epoch === null
      ? `this process does not hold partition ${this.partition} of the journal`
      : `another process took partition ${this.partition} of the journal over (this one held epoch ${this.epoch})`
  }
}

/** How long the heartbeat of a dead process is kept at most, while its calls wait for recovery. */
const recoveryMs = 60_000

interface Taken {
  readonly epoch: number
  /** The partition's time: now, and (`alive`) at the last heartbeat of the previous process. */
  readonly time: number
  readonly alive: number | null
  /** The time of taking, by the database's clock. */
  readonly at: number
}

/** The partitions of the journal that this process holds, each under the epoch that it raised. */
interface Ownership {
  /** The epochs by partition. */
  readonly held: ReadonlyMap<number, number>
  /** How far the partition's time is ahead of the monotonic clock, in milliseconds. */
  readonly originMs: (partition: number) => number
  /** The last heartbeat of the previous holder, in the partition's time; null: there was no holder. */
  readonly lastHeartbeatAt: (partition: number) => number | null
  /** Called when the entities of a dead process know of its end. From then on our own heartbeat counts. */
  readonly recovered: (partition: number) => void
  /** Gives a partition up, once; returns the error with which its commits die. */
  readonly lose: (partition: number) => JournalLost
  /** The error with which commits die when no partition is held any more; null: none was lost. */
  readonly lastLoss: () => JournalLost | null
}

/** How a process waits for its turn (src/runtime/README.md#two-processes). */
export interface StandBy<E> {
  /** The data directory of this process. An owner with the same one is dead. */
  readonly holder: string
  /** Runs the migrations, once this process owns the partitions and before anything is read from them. */
  readonly prepare: Effect.Effect<void, E>
}

const nameOf = ({ type }: OwnerMachine.State): string =>
  type === "owning" ? "the owner of the journal" : "a process that stands by"

/** The wait after a statement without an answer, and after a refused one. */
const retryMs = 250
/** How long a stopping process tries to write its last heartbeat. */
const endMs = 5_000

/**
 * Takes the partitions of the journal: waits for its turn if it stands by, and raises their epochs, which waits until
 * no statement of an older epoch is under way. From then on one fiber writes heartbeats and keeps the locks, until the
 * scope closes. Each heartbeat also checks that the partitions are still held. The last one records that this process
 * ended.
 *
 * Without `standBy` it takes the partitions from their owner.
 */
export const take = Effect.fnUntraced(function* <E = never>(
  sql: SqlClient.SqlClient,
  options: {
    readonly partitions: ReadonlyArray<number>
    readonly heartbeatMs: number
    readonly onLost: (lost: JournalLost) => void
    readonly standBy?: StandBy<E>
  }
): Effect.fn.Return<Ownership, E | SqlError, Scope.Scope> {
  const { heartbeatMs, standBy = null } = options
  // Partitions are taken in order, so that two processes that take the same ones never wait for each other.
  const partitions = options.partitions.toSorted((one, other) => one - other)
  const machine: OwnerMachine.Options = { partitions, holder: standBy?.holder ?? null, heartbeatMs }
  const session = yield* OwnerSession.make(sql)
  const held = new Map<number, number>()
  const lost = new Map<number, JournalLost>()
  const recovered = new Set<number>()
  const taken = new Map<number, { readonly originMs: number; readonly aliveMs: number | null; readonly at: number }>()
  let takenAt = 0
  let state: OwnerMachine.State = OwnerMachine.initial

  /** This also works for a lost partition, because its actors may still read the time. */
  const originMs = (partition: number): number => taken.get(partition)?.originMs ?? 0

  const lose = (partition: number): JournalLost => {
    const known = lost.get(partition)
    if (known !== undefined) return known
    const epoch = held.get(partition)
    const error = new JournalLost({ partition, epoch: epoch ?? null })
    if (epoch === undefined) return error
    held.delete(partition)
    lost.set(partition, error)
    options.onLost(error)
    return error
  }

  /**
   * Records that this process is alive, and the time of each partition. Calls that a dead process left are billed up to
   * its last heartbeat, even when this process dies before they are rebuilt. That heartbeat is therefore kept until
   * then.
   */
  const beat = (hasEnded: boolean) =>
    Effect.gen(function* () {
      const now = yield* Monotonic.now
      const asked = [...held]
      const ours = yield* OwnerRows.beats(
        session,
        asked.map(([partition, epoch]) => ({
          partition,
          epoch,
          time: now + originMs(partition),
          taken: (taken.get(partition)?.at ?? 0) / 1000,
          recovering: now - takenAt < recoveryMs && !recovered.has(partition)
        })),
        hasEnded
      )
      for (const [partition] of asked) if (!ours.includes(partition)) lose(partition)
      return ours
    })

  const perform = Effect.fnUntraced(function* (type: OwnerMachine.Act["type"]) {
    switch (type) {
      case "look":
        return { type: "Looked", signs: yield* OwnerRows.look(session, partitions) } as const
      case "lock": {
        const wanted = state.type === "owning" ? [...state.epochs.keys()] : partitions
        return { type: "Locked", isLocked: yield* OwnerRows.lock(session, wanted) } as const
      }
      case "raise": {
        const signs = state.type === "raising" ? OwnerMachine.signsOf(state) : new Map<number, OwnerMachine.Sign>()
        return { type: "Raised", epochs: yield* OwnerRows.raise(session, partitions, signs) } as const
      }
      case "beat":
        return { type: "Beaten", held: yield* beat(false) } as const
    }
  })

  /** Does one act after the other until `done`. No failure of the database ends it. */
  const run = Effect.fnUntraced(function* (done: (now: OwnerMachine.State) => boolean) {
    let isAway = false
    for (;;) {
      const next = OwnerMachine.act(machine, state)
      if (next === null || done(state)) return
      yield* Effect.sleep(next.afterMs)
      const before = state
      const answer = yield* Effect.result(perform(next.type))
      if (Result.isFailure(answer)) {
        if (!isAway) yield* Effect.logWarning(`${nameOf(before)} does not reach the database`, answer.failure.message)
        isAway = true
        yield* Effect.sleep(retryMs)
        // After a refused statement an owner continues with its lock; a waiting process begins again.
        if (answer.failure._tag === "Refused" && before.type === "owning") continue
        yield* session.close
      }
      const input = Result.isFailure(answer) ? ({ type: "Disconnected" } as const) : answer.success
      state = OwnerMachine.step(machine, before, input, yield* Monotonic.now)
      if (isAway && Result.isSuccess(answer) && (state.type !== "owning" || state.isLocked)) {
        yield* Effect.logInfo(`${nameOf(state)} reaches the database again`)
        isAway = false
      }
      if (before.type === "watching" && before.seen.size === 0 && state.type === "watching" && state.seen.size > 0)
        yield* Effect.logWarning("another process owns the journal of this database; this one stands by", {
          partitions: partitions.join()
        })
    }
  })

  /** Raises the epochs; false: another process was quicker. */
  const raise = Effect.fnUntraced(function* (expected: ReadonlyMap<number, number> | null) {
    takenAt = yield* Monotonic.now
    for (const partition of partitions) {
      yield* sql`INSERT INTO journal_owner (partition, epoch) VALUES (${partition}, 0) ON CONFLICT DO NOTHING`
      // Only the database's clock can measure the time since the last heartbeat. It may have been set back.
      const [row] = yield* sql<Taken>`
        UPDATE journal_owner SET epoch = epoch + 1, heartbeat_at = clock_timestamp(), holder = ${standBy?.holder ?? null},
          time_ms = coalesce(time_ms + greatest(0, extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000),
            extract(epoch FROM clock_timestamp()) * 1000),
          alive_ms = coalesce(alive_ms, extract(epoch FROM heartbeat_at) * 1000)
        WHERE partition = ${partition} AND epoch = coalesce(${expected?.get(partition) ?? null}::bigint, epoch)
        RETURNING epoch, time_ms AS time, alive_ms AS alive, heartbeat_at AS at`
      if (row === undefined) return false
      held.set(partition, row.epoch)
      taken.set(partition, { originMs: row.time - (yield* Monotonic.now), aliveMs: row.alive, at: row.at })
    }
    return true
  })

  if (standBy === null) {
    yield* raise(null)
    state = OwnerMachine.owning(held)
  } else {
    for (let isOurs = false; !isOurs;) {
      held.clear()
      yield* run(({ type }) => type === "owning")
      const raised = state.type === "owning" ? state.epochs : new Map<number, number>()
      yield* standBy.prepare
      isOurs = yield* raise(raised)
      if (isOurs) yield* Effect.logDebug("this process owns the journal", { partitions: partitions.join() })
      else yield* session.close
      state = isOurs ? { type: "owning", epochs: new Map(held), isLocked: true, next: "beat" } : OwnerMachine.initial
    }
  }

  // This runs after the fiber below has ended, and writes the last heartbeat.
  yield* Effect.addFinalizer(() =>
    held.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(Effect.retry(beat(true), { times: 1 }), endMs))
  )
  yield* Supervised.fork(
    "the heartbeat of the journal",
    run(() => held.size === 0)
  )

  const ownership: Ownership = {
    held,
    originMs,
    lastHeartbeatAt: (partition) => taken.get(partition)?.aliveMs ?? null,
    recovered: (partition) => void recovered.add(partition),
    lose,
    lastLoss: () => [...lost.values()].at(-1) ?? null
  }
  return ownership
})
