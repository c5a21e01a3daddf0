import { Clock, Effect, type Fiber, FiberSet } from "effect"
import { CrashPoint, type Point } from "./CrashPoint.ts"
import * as Deadlines from "./Deadlines.ts"
import { Entropy } from "./Entropy.ts"
import * as Patience from "./Patience.ts"

/** What all actors of a registry share. */
export interface Surroundings {
  readonly clock: Clock.Clock
  readonly entropy: Entropy["Service"]
  readonly crash: (point: Point) => void
  readonly deadlines: Deadlines.Deadlines
  readonly patience: Patience.Patience
  /** Starts a fiber that ends with the registry at the latest. */
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
}

/** `outage`: true while nothing can be committed. */
export const make = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  return {
    clock: yield* Clock.Clock,
    entropy: yield* Entropy,
    crash: yield* CrashPoint,
    deadlines: yield* Deadlines.make,
    patience: yield* Patience.make(outage),
    fork: yield* FiberSet.makeRuntime<never, void>()
  } satisfies Surroundings
})
