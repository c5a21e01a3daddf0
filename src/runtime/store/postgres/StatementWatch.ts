import { Clock, Context, Effect } from "effect"
import * as Supervised from "../../process/Supervised.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"

/** The time between two checks, and so how late a deadline may be noticed. */
const lookMs = 100

interface Entry {
  since: number
  limitMs: number
  readonly giveUp: () => void
}

/**
 * The statements that wait for an answer, each with its limit. One fiber checks all of them, so that a statement costs
 * an entry in a set and no timer.
 */
interface StatementWatch {
  /** `giveUp` is called once when the limit has passed; `restart` begins another wait, and `end` stops the watch. */
  readonly start: (
    limitMs: number,
    giveUp: () => void
  ) => { readonly restart: (limitMs: number) => void; readonly end: () => void }
}

export const make = Effect.gen(function* () {
  // The server answers in real time, whatever clock a test provides.
  const clock = Context.get(Context.empty(), Clock.Clock)
  const entries = new Set<Entry>()
  const look = (): void => {
    const now = Monotonic.read(clock)
    for (const entry of entries)
      if (now - entry.since >= entry.limitMs) {
        entries.delete(entry)
        entry.giveUp()
      }
  }
  yield* Supervised.fork(
    "the watch over statements",
    Effect.forever(Effect.andThen(Effect.sleep(lookMs), Effect.sync(look))).pipe(
      Effect.provideService(Clock.Clock, clock)
    )
  )
  return {
    start: (limitMs, giveUp) => {
      const entry: Entry = { since: Monotonic.read(clock), limitMs, giveUp }
      entries.add(entry)
      return {
        restart: (limit) => {
          entry.since = Monotonic.read(clock)
          entry.limitMs = limit
        },
        end: () => void entries.delete(entry)
      }
    }
  } satisfies StatementWatch
})
