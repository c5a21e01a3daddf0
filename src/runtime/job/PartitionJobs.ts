import { Clock, Effect, Latch } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Journal } from "../store/journal/Journal.ts"
import * as JobAttempt from "./JobAttempt.ts"
import type { Job } from "./Job.ts"
import * as JobRows from "./JobRows.ts"
import * as Runner from "./Runner.ts"

/** The jobs of one partition: the rows, their runner, and the times at which it looks. */
export const make = Effect.fnUntraced(function* (needs: {
  readonly partition: number
  readonly jobs: ReadonlyMap<string, Job>
  readonly now?: () => Fragment
}) {
  const { partition } = needs
  const journal = yield* Journal
  const rows = yield* JobRows.make(needs)
  // `expect` reads this clock and not the caller's, because a caller may use another one, as the kit for tests does.
  const clock = yield* Clock.Clock
  const now = () => Monotonic.read(clock)
  let expectedUntil = 0
  const changed = Latch.makeUnsafe(false)
  const wake = () => void Latch.openUnsafe(changed)
  const runner = yield* Runner.make({ ...needs, rows, onFree: wake })
  const isHeld = () => journal.partitions().includes(partition)

  /** Repeats the effect until it succeeds, or until the partition is lost and there is nothing more to do here. */
  const patiently = (what: string) => (effect: Effect.Effect<unknown, unknown>) => {
    let said = false
    return effect.pipe(
      Effect.tapCause((cause) => {
        if (said) return Effect.void
        said = true
        return Effect.logWarning(`${what}; it is tried again until it succeeds`, cause)
      }),
      Effect.tap(() => Effect.sync(() => (said = false))),
      Effect.catchCause(() => Effect.as(Effect.sleep(JobAttempt.nearMs), "again" as const)),
      Effect.repeat({ while: (outcome) => outcome === "again" && isHeld() })
    )
  }

  const pass = Effect.gen(function* () {
    Latch.closeUnsafe(changed)
    const nextMs = yield* runner.look
    const expecting = now() < expectedUntil
    yield* Effect.raceFirst(Effect.sleep(JobAttempt.lookInMs(nextMs, expecting)), Latch.await(changed))
  })

  return {
    rows,
    runner,
    wake,
    /** Makes the line look often for a row that was put in a transaction that has not ended yet. */
    expect: Effect.sync(() => {
      expectedUntil = now() + JobAttempt.expectedMs
      wake()
    }),
    /**
     * Looks whenever a row is due, until the partition is lost or the scope closes; then gives back the rows of
     * attempts under way.
     */
    run: patiently("jobs could not begin")(runner.prepare).pipe(
      Effect.andThen(Effect.repeat(patiently("what is due could not be looked for")(pass), { while: isHeld })),
      Effect.ensuring(runner.stop)
    )
  } as const
})

export type PartitionJobs = Effect.Success<ReturnType<typeof make>>
