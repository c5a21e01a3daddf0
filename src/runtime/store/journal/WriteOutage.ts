import { Effect, Latch, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { StatementLimit } from "../StatementLimit.ts"

const seconds = Metric.counter("journal_outage_seconds_total", {
  description: "Time in which nothing could be committed",
  incremental: true
})

/** A statement without an answer after this time already counts as an outage. */
const slowMs = 2_000

/** No probe is needed when something was written within this time. */
const freshMs = 5_000

const probeMs = 1_000

/** Writes a row as long as a page, which no old page has room for: on a full disk it fails as commits do. */
const probeText = `
WITH gone AS (DELETE FROM write_probe)
INSERT INTO write_probe (filler) SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 220)`

/**
 * Tracks whether commits can be written, by the outcome of the last one: since when they cannot, and why. The log names
 * the cause once, and the end once.
 */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  let failingSince: number | null = null
  const failing = Latch.makeUnsafe(false)
  /** When the statement under way began; null: none is under way. */
  let statementSince: number | null = null
  let writtenAt: number | null = null

  const failed = (cause: string) =>
    Effect.flatMap(Monotonic.now, (now) => {
      statementSince = null
      if (failingSince !== null) return Effect.void
      failingSince = now
      Latch.openUnsafe(failing)
      return Effect.logWarning("nothing can be stored; commits wait", { cause })
    })

  const written = Effect.flatMap(Monotonic.now, (now) => {
    statementSince = null
    writtenAt = now
    if (failingSince === null) return Effect.void
    const lasted = (now - failingSince) / 1000
    failingSince = null
    Latch.closeUnsafe(failing)
    return Effect.andThen(
      Metric.update(seconds, lasted),
      Effect.logInfo("commits are stored again", { seconds: Math.round(lasted * 10) / 10 })
    )
  })

  const probe = sql.unsafe(probeText).pipe(
    Effect.provideService(StatementLimit, probeMs),
    Effect.matchEffect({
      onFailure: (error) => Effect.as(failed(error.message), false),
      onSuccess: () => Effect.as(written, true)
    })
  )

  return {
    failed,
    written,
    began: Effect.map(Monotonic.now, (now) => {
      statementSince = now
      return now
    }),
    isFailing: () => failingSince !== null,
    unavailableForMs: Effect.map(Monotonic.now, (now) => {
      if (failingSince !== null) return Math.max(1, now - failingSince)
      return statementSince !== null && now - statementSince >= slowMs ? now - statementSince : 0
    }),
    /** Writes a probe, unless something was written just now. */
    canWrite: Effect.flatMap(Monotonic.now, (now) => {
      if (failingSince === null && writtenAt !== null && now - writtenAt < freshMs) return Effect.succeed(true)
      return probe
    }),
    /** Probes while nothing can be stored, because the end of the outage would go unnoticed when no commit comes. */
    watch: Latch.await(failing).pipe(
      Effect.andThen(Effect.sleep("1 second")),
      Effect.andThen(Effect.suspend(() => (statementSince === null ? probe : Effect.succeed(true)))),
      Effect.forever
    )
  } as const
})
