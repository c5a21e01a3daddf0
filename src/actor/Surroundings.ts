import { Clock, Effect } from "effect"
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
}

/** `outage`: true while nothing can be committed. */
export const make = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  return {
    clock: yield* Clock.Clock,
    entropy: yield* Entropy,
    crash: yield* CrashPoint,
    deadlines: yield* Deadlines.make,
    patience: yield* Patience.make(outage)
  } satisfies Surroundings
})
