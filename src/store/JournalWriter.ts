import { Cause, Deferred, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { CrashPoint } from "../actor/CrashPoint.ts"
import * as Monotonic from "../domain/Monotonic.ts"
import * as Batches from "./Batches.ts"
import { CommitClient } from "./CommitClient.ts"
import * as CommitStatement from "./CommitStatement.ts"
import { type Commit, type Committed, empty, type EntityWrite, type EventRow, Journal } from "./Journal.ts"
import * as Handover from "./Handover.ts"
import * as JournalReader from "./JournalReader.ts"
import * as Outage from "./Outage.ts"
import * as Ownership from "./Ownership.ts"
import { WriteFence } from "./WriteFence.ts"

interface Waiting {
  readonly commit: Commit
  readonly wanted: () => boolean
  readonly done: Deferred.Deferred<Committed | null>
}

/** Commits of one statement. */
const batchLimit = 256

/** A statement without an answer for so long counts as an outage already. */
const slowMs = 2_000

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

      let outageSince = 0
      /** When the statement under way began; 0: none is. */
      let statementSince = 0
      let listener: Handover.DeliveryListener = Handover.nobodyListens

      const run = (
        batch: ReadonlyArray<Commit>,
        offer: Handover.Offer,
        client = sql
      ): Effect.Effect<CommitStatement.Answer, SqlError> =>
        Effect.suspend(() => {
          const { parameters, text } = CommitStatement.make(ownership.held, batch, offer)
          return Effect.map(client.unsafe<CommitStatement.Answer>(text, parameters), (rows) => rows[0] ?? noAnswer)
        })

      /** A commit that nobody wants any more leaves the queue here, before any statement has it. */
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

      /**
       * After a lost connection: a commit whose input, or whose money, is in the database was written by the statement
       * that never answered. Another owner may have written an input with that number meanwhile; the seed tells whose
       * it is.
       */
      const withoutWritten = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
        const entities = batch.flatMap(({ commit }) => commit.entities)
        // Without a row to look for, this only asks whether the database is there.
        const rows =
          entities.length === 0
            ? yield* Effect.as(sql`SELECT 1`, [])
            : yield* sql<{ readonly key: string }>`
                SELECT entity_id || ':' || seq || ':' || seed AS key FROM journal
                WHERE (entity_id || ':' || seq || ':' || seed) IN ${sql.in(entities.map(keyOf))}
                  AND entity_id IN ${sql.in(entities.map(({ id }) => id))}`
        const written = new Set(rows.map((row) => row.key))
        const causes = batch.flatMap(({ commit }) => commit.money.map((row) => row.cause))
        const balances =
          causes.length === 0
            ? []
            : yield* sql<{ readonly cause: string; readonly after: number }>`
                SELECT cause, balance_after_cents::float8 AS after FROM ledger WHERE cause IN ${sql.in(causes)}`
        const known: CommitStatement.Answer = {
          ...noAnswer,
          balances: Object.fromEntries(balances.map((row) => [row.cause, row.after]))
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
          const lastLoss = ownership.lastLoss()
          const holding = ownership.held.size
          if (holding === 0) return die(batch, lastLoss)
          crash("before_commit")
          statementSince = yield* Monotonic.now
          const sinceMs = statementSince
          const events = eventsOf(batch)
          const offer = events.length === 0 ? Handover.nothingOffered : listener.offer(events)
          const exit = yield* run(
            batch.map((entry) => entry.commit),
            offer
          ).pipe(Effect.timeout(Batches.silence), Effect.exit)
          statementSince = 0
          if (Exit.isSuccess(exit)) {
            const { missing } = exit.value
            if (missing === null) return finish(batch, exit.value, sinceMs)
            const rest = withoutLost(batch, missing, exit.value)
            const stuck = rest.length === batch.length && ownership.held.size === holding
            return stuck
              ? die(rest, new Error("a commit names a tenant by what is not its id"))
              : yield* write(rest, again)
          }
          const failure = Cause.findErrorOption(exit.cause)
          if (failure._tag === "Some" && (failure.value._tag === "TimeoutError" || Outage.is(failure.value))) {
            outageSince ||= yield* Monotonic.now
            yield* Effect.logWarning("the database is away; commits wait", failure.value.message)
            return yield* write(yield* retryUntilReachable(batch), true)
          }
          // The statement that was given up may have taken effect meanwhile, and made the database refuse this one:
          // that is success.
          if (again) {
            const rest = yield* retryUntilReachable(batch)
            if (rest.length < batch.length) return yield* write(rest, true)
          }
          if (batch.length === 1) {
            yield* Effect.logError("a commit was refused by the database", exit.cause)
            return die(batch, Cause.squash(exit.cause))
          }
          // One refused row fails its whole statement, so each commit now gets a statement of its own.
          for (const entry of batch) yield* write([entry], again)
        })

      const retryUntilReachable = (batch: ReadonlyArray<Waiting>): Effect.Effect<ReadonlyArray<Waiting>> =>
        Effect.sleep("200 millis").pipe(
          Effect.andThen(Effect.timeout(withoutWritten(batch), Batches.silence)),
          Effect.catch(() => retryUntilReachable(batch))
        )

      const batches = yield* Batches.make<Waiting>({
        name: "the journal writer",
        limit: batchLimit,
        serve: (batch) => write(withoutUnwanted(batch)),
        died: ({ done }, defect) => void Deferred.doneUnsafe(done, Exit.die(defect))
      })

      // The statement runs whatever becomes of the caller.
      const commitWhile = (commit: Commit, wanted: () => boolean): Effect.Effect<Committed | null> =>
        Batches.ask(batches, (done) => ({ commit, wanted, done }))

      const commit = (rows: Commit): Effect.Effect<Committed> =>
        Effect.map(commitWhile(rows, always), (written) => written ?? nothingKnown)

      // The queue is in order: once an empty commit is through, everything before it is.
      yield* Effect.addFinalizer(() =>
        ownership.held.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(commit(empty), closingTimeout))
      )

      return Journal.of({
        commit,
        commitWhile,
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
        unavailableForMs: Effect.map(Monotonic.now, (now) => {
          if (outageSince !== 0) return Math.max(1, now - outageSince)
          return statementSince !== 0 && now - statementSince >= slowMs ? now - statementSince : 0
        }),
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

const noAnswer: CommitStatement.Answer = { missing: null, homes: null, balances: null, endpoints: null, handed: null }

const eventsOf = (batch: ReadonlyArray<Waiting>): ReadonlyArray<EventRow> =>
  batch.flatMap(({ commit }) => commit.events)

const always = () => true
const nothingKnown: Committed = { balanceCents: null }

const keyOf = ({ id, input, seq }: EntityWrite): string => `${id}:${seq}:${input.seed}`

const committed = (commit: Commit, answer: CommitStatement.Answer): Committed => {
  const last = commit.money.at(-1)
  const balance = last === undefined ? undefined : answer.balances?.[last.cause]
  return { balanceCents: balance ?? null }
}
