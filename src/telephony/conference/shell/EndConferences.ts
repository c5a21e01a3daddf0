import * as Audit from "../../../runtime/audit/Audit.ts"
import { Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import type { ConferenceId } from "../../../domain/Id.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as OnConferenceAction from "../machine/OnConferenceAction.ts"
import type { ConferenceRegistry } from "./ConferenceRegistry.ts"
import type * as ConferenceView from "../ConferenceView.ts"

/** How the service and the operator end conferences. */

export const stopping = ApiError.of("service_unavailable", "the service is stopping; no new conferences")

/** How long a drain waits for the work that follows the end of a conference. */
const graceMs = 5_000

export const make = ({ live }: Pick<ConferenceRegistry, "live">) => {
  let accepting = true

  const until = Effect.fnUntraced(function* (reached: () => boolean, limitMs: number) {
    const last = (yield* Monotonic.now) + limitMs
    while (!reached() && (yield* Monotonic.now) < last) yield* Effect.sleep("20 millis")
  })
  const none = () => live.size === 0

  return {
    accepting: () => accepting,
    drain: Effect.fn("Conferences.drain")(function* (drainMs: number) {
      accepting = false
      yield* until(none, drainMs)
      if (none()) return
      yield* Effect.logInfo("draining is over: live conferences are closed", { conferences: live.size })
      const over = Effect.forEach(
        [...live.values()],
        (actor) => actor.tell({ type: "ended_by_system", by: "service" }),
        { concurrency: 256, discard: true }
      )
      // Without a database no conference can end; the next start recovers them.
      yield* Effect.timeoutOption(Effect.andThen(over, until(none, graceMs)), graceMs)
    }),
    /** Ends a conference for the operator. `shown`: its present view. */
    one: Effect.fnUntraced(function* (id: ConferenceId, shown: ConferenceView.Conference) {
      const actor = live.get(id)
      if (shown.status === "completed") return yield* OnConferenceAction.alreadyEnded
      if (actor === undefined)
        return yield* ApiError.of("service_unavailable", "the conference is being recovered; try again")
      yield* actor.ask(
        { type: "ended_by_system", by: "operator" },
        { by: yield* Audit.byOperator, slot: null, status: 200, member: null }
      )
    })
  } as const
}
