import { Clock, Effect, type Fiber, FiberSet } from "effect"
import * as AskTimeout from "./AskTimeout.ts"
import { CrashPoint, type Point } from "../process/CrashPoint.ts"
import * as Deadlines from "./Deadlines.ts"
import { Entropy } from "../process/Entropy.ts"

/** Everything that all actors of a registry share. */
export interface ActorEnvironment {
  readonly askTimeout: AskTimeout.AskTimeout
  readonly clock: Clock.Clock
  readonly entropy: Entropy["Service"]
  readonly crash: (point: Point) => void
  readonly deadlines: Deadlines.Deadlines
  /** Starts a fiber that ends with the registry at the latest. */
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
}

/** `outage`: true while nothing can be committed. */
export const make = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  return {
    askTimeout: yield* AskTimeout.make(outage),
    clock: yield* Clock.Clock,
    entropy: yield* Entropy,
    crash: yield* CrashPoint,
    deadlines: yield* Deadlines.make,
    fork: yield* FiberSet.makeRuntime<never, void>()
  } satisfies ActorEnvironment
})
