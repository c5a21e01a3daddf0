import { Cause, Effect } from "effect"
import * as Outage from "../runtime/store/Outage.ts"
import type { Told } from "./CarrierEvent.ts"

const repeatMs = [500, 1_000, 2_000, 4_000, 8_000]
const slowestMs = 8_000
const endRepeats = 40

/** Reports an event once. A sink that dies answers `fault`. */
export const once = (tell: Effect.Effect<Told>): Effect.Effect<Told> =>
  Effect.catchCause(tell, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.as(Outage.logged("the sink of a carrier died", cause), "fault" as const)
  )

/**
 * Reports an event until it is durable. When the sink could not store it, it is reported again under the same number.
 *
 * An event on which the sink keeps failing is given up after the last of the waits, so that the events after it get
 * through. An end is repeated for five minutes, because without it the call or the entry would continue without its
 * party.
 */
export const untilDurable = (tell: Effect.Effect<Told>, isEnd: boolean): Effect.Effect<Told> => {
  const attempt = (count: number): Effect.Effect<Told> =>
    Effect.flatMap(once(tell), (told) => {
      if (told !== "fault") return Effect.succeed(told)
      const waitMs = repeatMs[count] ?? (isEnd && count < endRepeats ? slowestMs : null)
      if (waitMs === null)
        return Effect.as(
          Effect.logError("an event of a leg or a room was given up because it could not be committed"),
          told
        )
      return Effect.flatMap(Effect.sleep(waitMs), () => attempt(count + 1))
    })
  return attempt(0)
}
