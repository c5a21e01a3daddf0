import { Clock, Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Jobs } from "../job/Jobs.ts"
import { Journal } from "../store/journal/Journal.ts"
import { UpkeepClient } from "../store/UpkeepClient.ts"
import * as Indexes from "./Indexes.ts"
import * as Retained from "./Retained.ts"

/** Rows of one statement. */
const batchRows = 5_000

/** Between two batches, at least so long, and four times as long as the last one took: a fifth of a connection. */
const pauseMs = 100
const pauseFactor = 4

/** A batch without an answer for so long is given up, and its round with it. */
const batchWithin = "2 minutes"

const everyMs = 600_000

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Receipts answer for 24 hours by the clock of a process; the hour is for clocks that differ. */
const receiptMs = 25 * hourMs

/** So long after its end a call keeps its key: nobody reads it then, and a process that is being replaced may. */
const callKeyMs = hourMs

/** A replayed event is refused by its age long before; what is kept longer tells an operator what came. */
const processorEventMs = 90 * dayMs

const pruned = Metric.counter("retention_pruned_rows_total", { description: "Rows deleted because of their age" })
const oldestAge = Metric.gauge("retention_oldest_row_seconds", { description: "Age of the oldest row, by table" })
const lag = Metric.gauge("retention_lag_seconds", {
  description: "How long the oldest row of a table has been older than it should be; what still lives is kept"
})
const bytes = Metric.gauge("table_bytes", { description: "A table on disk with its indexes" })
const rows = Metric.gauge("table_rows", { description: "Rows of a table, as the database estimates them" })

/** Days that events (with deliveries and journals) and calls (with audit lines) are kept. */
export interface Days {
  readonly event: number
  readonly call: number
}

/**
 * Deletes what is older than it has to be kept, guide/operation.md#retention. What lives, and what a delivery still
 * needs, stays however old it is; so does the ledger.
 *
 * One recurring job goes through the table of `Retained`, in batches with pauses, over a connection of its own. It
 * begins each table at its old end, so a batch that is lost with its process is found again.
 */
export class Retention extends Context.Service<
  Retention,
  {
    /** One round over all tables, as far as rows are too old now. The job does it by itself. */
    readonly prune: Effect.Effect<void, unknown>
    /**
     * The moment up to which rows of this table may be gone, in epoch milliseconds; null: none was pruned yet. What
     * is missing from before it is no fault.
     */
    readonly prunedUntil: (name: string) => Effect.Effect<number | null>
  }
>()("trunkline/retention/Retention") {
  /** `now`: another clock, for tests. `rows`: of a batch. */
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

        /** Said before the first row goes, and never taken back. */
        const note = (name: string, until: number) => sql`
          INSERT INTO retention (name, pruned_until) VALUES (${name}, to_timestamp(${until}::float8 / 1000))
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
            SELECT pg_total_relation_size(oid)::float8 AS bytes, greatest(0, reltuples)::float8 AS rows
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

        // A table that cannot be pruned now keeps none of the others from it; the job is repeated for it.
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
          // A first round on a big old table builds an index and has years to delete.
          timeoutMs: 12 * hourMs,
          retry: { attempts: Infinity, firstMs: 10_000, maxMs: everyMs },
          run: () => prune
        })

        return Retention.of({
          prune,
          prunedUntil: (name) =>
            Effect.map(
              Effect.orDie(shared<{ readonly at: number }>`
                SELECT (extract(epoch FROM pruned_until) * 1000)::float8 AS at FROM retention WHERE name = ${name}`),
              ([row]) => row?.at ?? null
            )
        })
      })
    )
}

/**
 * What time it is at most. The wall clock may be set forward by years, and the time of the partitions passes evenly:
 * the earlier of both deletes nothing too soon.
 */
const presentOf = (journal: Journal["Service"]): Effect.Effect<number> =>
  Effect.zipWith(Clock.currentTimeMillis, Monotonic.now, (wall, monotonic) =>
    Math.min(wall, ...journal.partitions().map((partition) => monotonic + journal.originMs(partition)))
  )
