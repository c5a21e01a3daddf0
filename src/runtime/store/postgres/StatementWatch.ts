import { Clock, Context, Effect } from "effect"
import * as Supervised from "../../process/Supervised.ts"
import * as Attended from "../../../domain/time/Attended.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"

/** The time between two checks, and so how late a deadline may be noticed. */
const lookMs = 100
/** More time than this between two checks does not count. */
const mostMs = 500

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
  const time = Attended.make(mostMs, Monotonic.read(clock))
  /** The time in which this thread could read answers. */
  const attended = (): number => time.at(Monotonic.read(clock))
  const look = (): void => {
    const now = time.look(Monotonic.read(clock))
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
      const entry: Entry = { since: attended(), limitMs, giveUp }
      entries.add(entry)
      return {
        restart: (limit) => {
          entry.since = attended()
          entry.limitMs = limit
        },
        end: () => void entries.delete(entry)
      }
    }
  } satisfies StatementWatch
})
