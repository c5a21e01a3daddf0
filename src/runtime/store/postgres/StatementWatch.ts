import { Clock, Context, Effect } from "effect"
import * as Supervised from "../../process/Supervised.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"

/** The time between two checks, and so how late a deadline may be noticed. */
const lookMs = 100
/**
 * More time than this between two checks does not count, because this thread stood still meanwhile: an answer may have
 * come that it has not read yet.
 */
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
  let lookedAt = Monotonic.read(clock)
  let before = 0
  /** The time in which this thread could read answers. */
  const attended = (): number => before + Math.min(mostMs, Monotonic.read(clock) - lookedAt)
  const look = (): void => {
    const now = attended()
    before = now
    lookedAt = Monotonic.read(clock)
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
