import { Effect, Layer, Result } from "effect"
import { Meter, Upgrade } from "../../telephony/call/Call.ts"
import { StoredConference } from "../../telephony/conference/Conference.ts"
import { type Metered, Plans } from "../../money/plan/Plan.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"

/**
 * Gives the parts of the debits of a call or conference, from its stored state; none when it is gone or cannot be read.
 */
const of =
  (journal: Pick<Journal["Service"], "find">): Metered =>
  (id, type) =>
    Effect.map(journal.find(id), (row) => {
      if (row === null || (row.kind !== "call" && row.kind !== "conference")) return []
      const state: Result.Result<{ readonly meters: Meter.Meters }, unknown> =
        row.kind === "call" ? Upgrade.state(row) : StoredConference.shown(row)
      return Result.match(state, {
        onFailure: () => [],
        onSuccess: ({ meters }) => Meter.charged(meters, type)
      })
    })

export const plans = Layer.unwrap(Effect.map(Journal, (journal) => Plans.layer({ metered: of(journal) })))
