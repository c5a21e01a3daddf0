import { Cause, Effect, Metric, type Scope } from "effect"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Fatal } from "./Fatal.ts"

/** A fiber that dies more often than this within the window cannot do its work: the process stops. */
const deathLimit = 10
const windowMs = 60_000

const firstWaitMs = 50
const longestWaitMs = 5_000

const deaths = Metric.counter("service_fiber_deaths_total", {
  description: "Fibers of the service that died and were begun again, by what they do"
})

/**
 * Begins a fiber of the service, which works until the scope closes (src/runtime/README.md#supervision).
 * `scripts/floors.ts` checks that nothing else begins one.
 *
 * When the work dies or fails, that is logged and counted, and the work begins again from its start after a wait that
 * doubles, up to 5 s. State that must outlive a restart (a queue) is therefore kept outside the work. After more than
 * 10 deaths in a minute the process stops, with a reason. Work that completes is done.
 */
export const fork = <A, E, R>(
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<void, never, R | Scope.Scope> => Effect.asVoid(Effect.forkScoped(keep(name, work)))

/** Like `fork`, but in the fiber of the caller. */
export const keep = <A, E, R>(name: string, work: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const fatal = yield* Fatal
    const died = Metric.withAttributes(deaths, { fiber: name })
    let recent: ReadonlyArray<number> = []
    const attempt = Effect.catchCause(Effect.asVoid(work), (cause) =>
      Effect.gen(function* () {
        if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
        const now = yield* Monotonic.now
        recent = [...recent.filter((at) => now - at < windowMs), now]
        yield* Metric.update(died, 1)
        yield* Effect.logError(`${name} died and begins again`, cause)
        if (recent.length > deathLimit) {
          fatal(`${name} died ${recent.length} times in a minute: ${reasonOf(cause)}`)
          return yield* Effect.never
        }
        yield* Effect.sleep(Math.min(longestWaitMs, firstWaitMs * 2 ** (recent.length - 1)))
        return "again" as const
      })
    )
    yield* Effect.repeat(attempt, { while: (outcome) => outcome === "again" })
  })

const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}
