import { Cause, Clock, Deferred, Effect, Exit, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { CrashPoint } from "../actor/CrashPoint.ts"
import { CommitClient } from "./CommitClient.ts"
import * as CommitStatement from "./CommitStatement.ts"
import {
  type Commit,
  type Committed,
  type Destination,
  empty,
  type EntityWrite,
  Journal,
  type StoredEntity,
  type StoredInput
} from "./Journal.ts"
import * as Outage from "./Outage.ts"

/** Another process raised the epoch: this one must stop writing, and stop. */
export class JournalLost extends Schema.TaggedError<JournalLost>()("JournalLost", { epoch: Schema.Number }) {
  override get message() {
    return `another process took the journal over (this one held epoch ${this.epoch})`
  }
}

interface Waiting {
  readonly commit: Commit
  readonly done: Deferred.Deferred<Committed>
}

interface Answer {
  readonly owner: number
  readonly balances: Readonly<Record<string, number>> | null
  readonly destinations: ReadonlyArray<Destination> | null
}

/** Rows of one statement; what waits beyond it goes into the next. */
const batchLimit = 256

/** A statement without an answer for so long is given up: its connection is silent. */
const silence = "30 seconds"

/** A statement without an answer for so long counts as an outage already. */
const slowMs = 2_000

/** How long the heartbeat of a dead process stands at most while its calls wait for recovery. */
const recoveryMs = 60_000

/** How long closing waits for an unreachable database; what waited then was never acknowledged. */
const closingPatience = "10 seconds"

/**
 * Takes the journal (raises the epoch), then writes batches until the layer closes.
 *
 * Closing waits for what is queued. `onLost` runs once when another process took over; every commit dies from then on.
 */
export const layer = (options: {
  readonly onLost: (error: JournalLost) => void
  /** Between two signs of life; each also looks whether the journal is still ours. */
  readonly heartbeatMs?: number
}) =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const shared = yield* SqlClient.SqlClient
      const sql = (yield* CommitClient) ?? shared
      const crash = yield* CrashPoint

      const takenAt = yield* Clock.currentTimeMillis
      const [taken] = yield* sql<{ readonly epoch: number; readonly heartbeat: number | null }>`
        UPDATE journal_owner SET epoch = epoch + 1 WHERE partition = 0
        RETURNING epoch::int AS epoch, (extract(epoch FROM heartbeat_at) * 1000)::float8 AS heartbeat`
      if (taken === undefined) return yield* Effect.die(new Error("journal_owner has no row: is the schema migrated?"))
      const epoch = taken.epoch

      const waiting = yield* Queue.unbounded<Waiting>()
      let outageSince = 0
      /** When the statement under way began; 0: none is. */
      let statementSince = 0
      let lost = false
      let listener: (destinations: ReadonlyArray<Destination>) => void = () => {}

      const run = (batch: ReadonlyArray<Commit>, client = sql): Effect.Effect<Answer, SqlError> =>
        Effect.suspend(() => {
          const { parameters, text } = CommitStatement.make(epoch, batch)
          return Effect.map(
            client.unsafe<Answer>(text, parameters),
            (rows) => rows[0] ?? { owner: 0, balances: null, destinations: null }
          )
        })

      const lose = (): JournalLost => {
        const error = new JournalLost({ epoch })
        if (!lost) options.onLost(error)
        lost = true
        return error
      }

      const finish = (batch: ReadonlyArray<Waiting>, answer: Answer): void => {
        if (answer.owner !== 1) {
          const error = lose()
          for (const { done } of batch) Deferred.doneUnsafe(done, Exit.die(error))
          return
        }
        crash("after_commit")
        for (const { commit, done } of batch) Deferred.doneUnsafe(done, Exit.succeed(committed(commit, answer)))
        if (answer.destinations !== null && answer.destinations.length > 0) listener(answer.destinations)
      }

      /** After a lost connection: a commit whose input, or money, is there was written by the statement we never heard of. */
      const withoutWritten = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
        const keys = batch.flatMap(({ commit }) => commit.entities.map(keyOf))
        // Without a row to look for this only asks whether the database is there.
        const rows =
          keys.length === 0
            ? yield* Effect.as(sql`SELECT 1`, [])
            : yield* sql<{ readonly key: string }>`
                SELECT entity_id || ':' || seq AS key FROM journal
                WHERE (entity_id || ':' || seq) IN ${sql.in(keys)}
                  AND entity_id IN ${sql.in(keys.map((key) => key.slice(0, key.lastIndexOf(":"))))}`
        const written = new Set(rows.map((row) => row.key))
        const causes = batch.flatMap(({ commit }) => commit.money.map((row) => row.cause))
        const balances =
          causes.length === 0
            ? []
            : yield* sql<{ readonly cause: string; readonly after: number }>`
                SELECT cause, balance_after_cents::float8 AS after FROM ledger WHERE cause IN ${sql.in(causes)}`
        const known: Answer = {
          owner: 1,
          balances: Object.fromEntries(balances.map((row) => [row.cause, row.after])),
          destinations: null
        }
        outageSince = 0
        const rest: Array<Waiting> = []
        for (const entry of batch) {
          const { entities, money } = entry.commit
          if (
            entities.length === 0
              ? money.some((row) => known.balances?.[row.cause] !== undefined)
              : entities.some((entity) => written.has(keyOf(entity)))
          )
            Deferred.doneUnsafe(entry.done, Exit.succeed(committed(entry.commit, known)))
          else rest.push(entry)
        }
        return rest
      })

      /** `again`: an earlier statement with these commits was given up, and may still be at work in the database. */
      const write = (batch: ReadonlyArray<Waiting>, again = false): Effect.Effect<void> =>
        Effect.gen(function* () {
          if (batch.length === 0) return
          if (lost) {
            for (const { done } of batch) Deferred.doneUnsafe(done, Exit.die(new JournalLost({ epoch })))
            return
          }
          crash("before_commit")
          statementSince = yield* Clock.currentTimeMillis
          const exit = yield* run(batch.map((entry) => entry.commit)).pipe(Effect.timeout(silence), Effect.exit)
          statementSince = 0
          if (Exit.isSuccess(exit)) return finish(batch, exit.value)
          const failure = Cause.findErrorOption(exit.cause)
          if (failure._tag === "Some" && (failure.value._tag === "TimeoutError" || Outage.is(failure.value))) {
            outageSince ||= yield* Clock.currentTimeMillis
            yield* Effect.logWarning("the database is away; commits wait", failure.value.message)
            return yield* write(yield* retryUntilReachable(batch), true)
          }
          // Refused because the statement that was given up has come through meanwhile: that is success.
          if (again) {
            const rest = yield* retryUntilReachable(batch)
            if (rest.length < batch.length) return yield* write(rest, true)
          }
          if (batch.length === 1) {
            yield* Effect.logError("a commit was refused by the database", exit.cause)
            for (const { done } of batch) Deferred.doneUnsafe(done, Exit.failCause(Cause.die(Cause.squash(exit.cause))))
            return
          }
          // One refused row fails its whole statement: write the others by themselves.
          for (const entry of batch) yield* write([entry], again)
        })

      const retryUntilReachable = (batch: ReadonlyArray<Waiting>): Effect.Effect<ReadonlyArray<Waiting>> =>
        Effect.sleep("200 millis").pipe(
          Effect.andThen(Effect.timeout(withoutWritten(batch), silence)),
          Effect.catch(() => retryUntilReachable(batch))
        )

      // The statement may run whatever becomes of the one who waits.
      const commit = (rows: Commit): Effect.Effect<Committed> =>
        Effect.suspend(() => {
          const done = Deferred.makeUnsafe<Committed>()
          Queue.offerUnsafe(waiting, { commit: rows, done })
          return Deferred.await(done)
        })

      yield* Queue.takeBetween(waiting, 1, batchLimit).pipe(
        Effect.flatMap((batch) => write(batch)),
        Effect.forever,
        Effect.forkScoped
      )
      // The queue is in order: when a commit of nothing is through, everything before it is.
      yield* Effect.addFinalizer(() =>
        lost ? Effect.void : Effect.ignore(Effect.timeout(commit(empty), closingPatience))
      )

      /** What a dead process left is billed to its last heartbeat, also when this process dies before it was told. */
      const beat = Effect.gen(function* () {
        const recovering = (yield* Clock.currentTimeMillis) - takenAt < recoveryMs
        const ours = yield* sql`
          UPDATE journal_owner SET heartbeat_at = CASE WHEN ${recovering}::boolean AND EXISTS (
            SELECT 1 FROM entity
            WHERE kind = 'call' AND NOT settled AND updated_at < to_timestamp(${takenAt / 1000}::float8)
          ) THEN heartbeat_at ELSE now() END
          WHERE partition = 0 AND epoch = ${epoch} RETURNING 1`
        if (ours.length === 0) lose()
      })
      yield* beat.pipe(
        Effect.ignore,
        Effect.andThen(Effect.sleep(options.heartbeatMs ?? 5_000)),
        Effect.repeat({ while: () => !lost }),
        Effect.forkScoped
      )

      const unsettled = Effect.fn("Journal.unsettled")(function* (kind: string) {
        return yield* sql<StoredEntity>`
          SELECT id, kind, tenant_id AS "tenantId", seq::int AS seq, settled, state_version AS "stateVersion", state
          FROM entity WHERE kind = ${kind} AND NOT settled`
      })

      return Journal.of({
        commit,
        commitWithin: (commit) =>
          Effect.orDie(run([commit], shared)).pipe(
            Effect.flatMap((answer) =>
              answer.owner === 1
                ? Effect.succeed({ ...committed(commit, answer), destinations: answer.destinations ?? [] })
                : Effect.suspend(() => Effect.die(lose()))
            )
          ),
        wake: (destinations) => Effect.sync(() => void (destinations.length > 0 && listener(destinations))),
        onDeliveries: (to) =>
          Effect.sync(() => {
            listener = to
          }),
        unavailableForMs: Effect.map(Clock.currentTimeMillis, (now) => {
          if (outageSince !== 0) return Math.max(1, now - outageSince)
          return statementSince !== 0 && now - statementSince >= slowMs ? now - statementSince : 0
        }),
        find: Effect.fn("Journal.find")(function* (entityId) {
          const rows = yield* Effect.orDie(sql<StoredEntity>`
            SELECT id, kind, tenant_id AS "tenantId", seq::int AS seq, settled, state_version AS "stateVersion", state
            FROM entity WHERE id = ${entityId}`)
          return rows[0] ?? null
        }),
        unsettled: (kind) => Effect.orDie(unsettled(kind)),
        inputs: Effect.fn("Journal.inputs")(function* (entityId) {
          return yield* Effect.orDie(sql<StoredInput>`
            SELECT seq::int AS seq, (extract(epoch FROM at) * 1000)::float8 AS at, seed, machine_version AS "machineVersion", input
            FROM journal WHERE entity_id = ${entityId} ORDER BY seq`)
        }),
        lastHeartbeatAt: taken.heartbeat
      })
    })
  )

const keyOf = ({ id, seq }: EntityWrite): string => `${id}:${seq}`

const committed = (commit: Commit, answer: Answer): Committed => {
  const last = commit.money.at(-1)
  const balance = last === undefined ? undefined : answer.balances?.[last.cause]
  return { balanceCents: balance ?? null }
}
