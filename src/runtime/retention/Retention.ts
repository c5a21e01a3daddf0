import { Clock, Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Jobs } from "../job/Jobs.ts"
import { timestamptz } from "../store/Timestamptz.ts"
import { Journal } from "../store/journal/Journal.ts"
import { UpkeepClient } from "../store/UpkeepClient.ts"
import * as Indexes from "./Indexes.ts"
import * as Retained from "./Retained.ts"

const batchRows = 5_000

/**
 * The pause between two batches, in milliseconds: at least this, and `pauseFactor` times as long as the last batch
 * took. So pruning uses at most a fifth of a connection.
 */
const pauseMs = 100
const pauseFactor = 4

/** A batch that has no answer after this time is given up, together with its round. */
const batchWithin = "2 minutes"

const everyMs = 600_000

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Receipts answer for 24 hours by the clock of a process; the additional hour covers clocks that differ. */
const receiptMs = 25 * hourMs

/**
 * A call keeps its key for this time after its end. No current process reads it then, but one that is being replaced
 * may.
 */
const callKeyMs = hourMs

/** A replayed event is refused by its age long before. The rows are kept longer as a record for the operator. */
const processorEventMs = 90 * dayMs

const pruned = Metric.counter("retention_pruned_rows_total", { description: "Rows deleted because of their age" })
const oldestAge = Metric.gauge("retention_oldest_row_seconds", { description: "Age of the oldest row, by table" })
const lag = Metric.gauge("retention_lag_seconds", {
  description: "How long the oldest row of a table has been older than it should be; what still lives is kept"
})
const bytes = Metric.gauge("table_bytes", { description: "A table on disk with its indexes" })
const rows = Metric.gauge("table_rows", { description: "Rows of a table, as the database estimates them" })

/** For how many days events (with deliveries and journals) and calls (with audit lines) are kept. */
interface Days {
  readonly event: number
  readonly call: number
}

/**
 * Deletes rows that are older than they have to be kept, guide/operation.md#retention. Live entities, rows that a
 * delivery still needs, and the ledger are kept at any age.
 *
 * One recurring job goes through the table of `Retained`, in batches with pauses, over a separate connection. It begins
 * each table with its oldest rows, so the rows of a batch that is lost with its process are found again.
 */
export class Retention extends Context.Service<
  Retention,
  {
    /** Makes one round over all tables, up to the rows that are too old now. The job does it by itself. */
    readonly prune: Effect.Effect<void, unknown>
    /**
     * The moment up to which rows of this table may be gone, in epoch milliseconds; null: none was pruned yet. A row
     * missing from before it is no fault.
     */
    readonly prunedUntil: (name: string) => Effect.Effect<number | null>
  }
>()("trunkline/retention/Retention") {
  /** `now`: another clock, for tests. `rows`: the rows of a batch. */
  static readonly layer = (options: {
    readonly days: Days
    readonly now?: Effect.Effect<number>
    readonly rows?: number
  }) =>
    Layer.effect(
      Retention,
      Effect.gen(function* () {
        const shared = yield* SqlClient.SqlClient
        const sql = (yield* UpkeepClient) ?? shared
        const journal = yield* Journal
        const jobs = yield* Jobs
        const { days, now = presentOf(journal), rows: limit = batchRows } = options
        const periods: Retained.Periods = {
          receipt: receiptMs,
          event: days.event * dayMs,
          call: days.call * dayMs,
          callKey: callKeyMs,
          processorEvent: processorEventMs
        }

        /** Stores the moment before the first row is deleted. It never moves back. */
        const note = (name: string, until: number) => sql`
          INSERT INTO retention (name, pruned_until) VALUES (${name}, ${timestamptz(until)})
          ON CONFLICT (name) DO UPDATE SET pruned_until = greatest(retention.pruned_until, excluded.pruned_until)`

        const batch = (retained: Retained.Retained, until: number, position: string) =>
          Effect.map(
            Effect.timeout(
              sql.unsafe<Retained.Pruned>(retained.prune, [String(until), position, String(limit)]),
              batchWithin
            ),
            ([answer]) => answer ?? { pruned: 0, position: null }
          )

        const pruneTable = Effect.fn("Retention.prune")(function* (retained: Retained.Retained) {
          if (retained.index !== null) yield* Indexes.ensure(sql, retained.index)
          const until = Math.floor((yield* now) - periods[retained.period])
          yield* note(retained.name, until)
          let position: string | null = retained.from
          let total = 0
          while (position !== null) {
            const began = yield* Monotonic.now
            const answer: Retained.Pruned = yield* batch(retained, until, position)
            const tookMs = (yield* Monotonic.now) - began
            total += answer.pruned
            position = answer.position
            yield* Metric.update(Metric.withAttributes(pruned, { table: retained.name }), answer.pruned)
            if (position !== null) yield* Effect.sleep(Math.max(pauseMs, pauseFactor * tookMs))
          }
          if (total > 0) yield* Effect.logDebug("old rows were deleted", { table: retained.name, rows: total })
          yield* measure(retained)
        })

        const measure = Effect.fnUntraced(function* ({ name, oldest, period }: Retained.Retained) {
          const of = { table: name }
          const [size] = yield* sql<{ readonly bytes: number; readonly rows: number }>`
            SELECT pg_total_relation_size(oid) AS bytes, greatest(0, reltuples) AS rows
            FROM pg_class WHERE oid = to_regclass(${name})`
          if (size !== undefined) {
            yield* Metric.update(Metric.withAttributes(bytes, of), size.bytes)
            yield* Metric.update(Metric.withAttributes(rows, of), size.rows)
          }
          if (oldest === null) return
          const [first] = yield* sql.unsafe<{ readonly at: number | null }>(oldest)
          const ageMs = first?.at == null ? 0 : Math.max(0, (yield* now) - first.at)
          yield* Metric.update(Metric.withAttributes(oldestAge, of), ageMs / 1000)
          yield* Metric.update(Metric.withAttributes(lag, of), Math.max(0, ageMs - periods[period]) / 1000)
        })

        // A table that cannot be pruned now does not keep the others from it. The job is repeated because of it.
        const prune = Effect.flatMap(
          Effect.all([
            Effect.partition(Retained.forReads, (index) => Indexes.ensure(sql, index)),
            Effect.partition(Retained.table, pruneTable)
          ]),
          (rounds) => {
            const [failed] = rounds.flatMap(([, failures]) => failures)
            return failed === undefined ? Effect.void : Effect.fail(failed)
          }
        )

        jobs.declare({
          kind: "retention.prune",
          everyMs,
          concurrency: 1,
          // The first round on a big old table builds an index and deletes the rows of years.
          timeoutMs: 12 * hourMs,
          retry: { attempts: Infinity, firstMs: 10_000, maxMs: everyMs },
          run: () => prune
        })

        return Retention.of({
          prune,
          prunedUntil: (name) =>
            Effect.map(
              Effect.orDie(shared<{ readonly at: number }>`
                SELECT pruned_until AS at FROM retention WHERE name = ${name}`),
              ([row]) => row?.at ?? null
            )
        })
      })
    )
}

/**
 * The current time, or an earlier one. The wall clock may be set forward by years, while the time of the partitions
 * passes evenly: the earlier of both deletes nothing too soon.
 */
const presentOf = (journal: Journal["Service"]): Effect.Effect<number> =>
  Effect.zipWith(Clock.currentTimeMillis, Monotonic.now, (wall, monotonic) =>
    Math.min(wall, ...journal.partitions().map((partition) => monotonic + journal.originMs(partition)))
  )
