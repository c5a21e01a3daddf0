import { Effect, Scheduler } from "effect"

/** Unfinished work, and when it began, by `performance.now()`. */
interface Work {
  readonly what: string
  readonly since: number
}

/**
 * Activity that no clock measures: requests, statements, files, handlers of the user, and fibers that wait for their
 * turn. The clock moves only when there is none.
 */
export interface Activity {
  /** Begins work, and returns the function that ends it. */
  readonly start: (what: string) => () => void
  readonly during: <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A database statement begins (1) or ends (-1). */
  readonly statement: (by: 1 | -1) => void
  /** Unfinished work, oldest first. Statements are not named. */
  readonly underWay: () => ReadonlyArray<Work>
  readonly isNone: () => boolean
  /** How often anything but a statement began or ended, and how often a statement did. */
  readonly steps: () => number
  readonly statements: () => number
  /** The scheduler of all fibers of the service, which counts them while they wait for their turn. */
  readonly scheduler: Scheduler.Scheduler
}

export const make = (): Activity => {
  const known = new Map<number, Work>()
  let last = 0
  let steps = 0
  let statements = 0
  let statementTurns = 0
  let waiting = 0

  const start = (what: string) => {
    const id = ++last
    known.set(id, { what, since: performance.now() })
    steps++
    return () => {
      if (known.delete(id)) steps++
    }
  }

  const base = new Scheduler.MixedScheduler()
  return {
    start,
    during: (what, effect) =>
      Effect.suspend(() => {
        const end = start(what)
        return Effect.ensuring(effect, Effect.sync(end))
      }),
    statement: (by) => {
      statements += by
      statementTurns++
    },
    underWay: () => [...known.values()],
    isNone: () => known.size === 0 && statements === 0 && waiting === 0,
    steps: () => steps,
    statements: () => statementTurns,
    scheduler: {
      executionMode: base.executionMode,
      shouldYield: (fiber) => base.shouldYield(fiber),
      makeDispatcher: () => {
        const dispatcher = base.makeDispatcher()
        return {
          scheduleTask: (task, priority) => {
            waiting++
            dispatcher.scheduleTask(() => {
              waiting--
              task()
            }, priority)
          },
          flush: () => dispatcher.flush()
        }
      }
    }
  }
}
