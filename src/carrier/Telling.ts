import { Cause, Effect } from "effect"
import type { Told } from "./Carrier.ts"

/**
 * Tells an event until it is durable: what the sink could not write down is told again, under the same number.
 *
 * An event that the sink keeps failing on is given up after the last of the waits, so that those behind it come
 * through. The end of a leg (`forever`) is not: without it the call would go on for nobody, and it is told for as long
 * as a leg that is over is remembered.
 */
const repeatMs = [500, 1_000, 2_000, 4_000, 8_000]
const slowestMs = 8_000
const endRepeats = 40

export const untilDurable = (tell: Effect.Effect<Told>, forever: boolean): Effect.Effect<Told> => {
  const once = Effect.catchCause(tell, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.as(Effect.logError("the sink of a carrier died", cause), "fault" as const)
  )
  const attempt = (count: number): Effect.Effect<Told> =>
    Effect.flatMap(once, (told) => {
      if (told !== "fault") return Effect.succeed(told)
      const waitMs = repeatMs[count] ?? (forever && count < endRepeats ? slowestMs : null)
      if (waitMs === null)
        return Effect.as(Effect.logError("an event of a leg is given up: it could not be committed"), told)
      return Effect.flatMap(Effect.sleep(waitMs), () => attempt(count + 1))
    })
  return attempt(0)
}
