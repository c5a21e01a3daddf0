import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../domain/Monotonic.ts"

/** Less is drift, or the way of the answer. */
const steppedMs = 5_000

/** An answer that was so long on its way says nothing of the clock. */
const promptMs = 1_000

/**
 * Due times are the database's clock, and somebody may set it. Gives how many milliseconds it was set back since this was
 * last asked, by the clock that nobody sets; 0: it was not. A clock that is set forward makes no one wait.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  /** What the database's clock is ahead of the monotonic one. */
  let aheadMs: number | null = null

  return Effect.gen(function* () {
    const asked = yield* Monotonic.now
    const [row] = yield* sql<{
      readonly at: number
    }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`
    const answered = yield* Monotonic.now
    if (row === undefined || answered - asked > promptMs) return 0
    const before = aheadMs
    aheadMs = row.at - answered
    const backMs = before === null ? 0 : before - aheadMs
    return backMs > steppedMs ? backMs : 0
  })
})
