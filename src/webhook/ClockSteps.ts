import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../domain/Monotonic.ts"

/** A smaller difference is drift, or the time that the answer took. */
const steppedMs = 5_000

/** An answer that took longer says nothing about the clock. */
const promptMs = 1_000

/**
 * Due times follow the database's clock, which somebody may set. Gives by how many milliseconds it was set back since
 * what was `followed` last, measured against the monotonic clock; 0: it was not. A clock that is set forward makes nobody
 * wait.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  /** How far the database's clock is ahead of the monotonic one. */
  let aheadMs: number | null = null
  /** What nobody has followed yet. */
  let owedMs = 0

  const setBack = Effect.gen(function* () {
    const asked = yield* Monotonic.now
    const [row] = yield* sql<{
      readonly at: number
    }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`
    const answered = yield* Monotonic.now
    if (row === undefined || answered - asked > promptMs) return owedMs
    const before = aheadMs
    aheadMs = row.at - answered
    const backMs = before === null ? 0 : before - aheadMs
    if (backMs > steppedMs) owedMs += backMs
    return owedMs
  })
  return { setBack, followed: (ms: number): void => void (owedMs -= ms) }
})
