import { Effect, Layer, Result } from "effect"
import * as Meter from "../call/Meter.ts"
import * as Upgrade from "../call/Upgrade.ts"
import { type Metered, Plans } from "../plan/Plan.ts"
import { Journal } from "../store/Journal.ts"

/** What the debits of a call are made of, out of its stored state; nothing of one that is gone or cannot be read. */
const of =
  (journal: Pick<Journal["Service"], "find">): Metered =>
  (callId, type) =>
    Effect.map(journal.find(callId), (row) => {
      if (row === null || row.kind !== "call") return []
      const state = Upgrade.state(row)
      return Result.isFailure(state) ? [] : Meter.charged(state.success.meters, type)
    })

/** Plans, which cover the minutes of calls. */
export const plans = Layer.unwrap(Effect.map(Journal, (journal) => Plans.layer({ metered: of(journal) })))
