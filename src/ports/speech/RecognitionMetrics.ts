import { Cause, Effect, Exit, Metric } from "effect"
import type { RecognitionFailed } from "./Recognition.ts"

const sessions = Metric.counter("recognitions_total", {
  description:
    "Tracks of calls that engines were given to recognize, by outcome: completed, stopped, or why they failed",
  incremental: true
})

const live = Metric.gauge("recognitions_live", { description: "Tracks of calls that are being recognized" })

const outcomeOf = (exit: Exit.Exit<unknown, RecognitionFailed>): string => {
  if (Exit.isSuccess(exit)) return "completed"
  if (Cause.hasInterruptsOnly(exit.cause)) return "stopped"
  return exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error.reason ?? "failed"
}

/** Counts an engine's session while it lasts, and then by its outcome. */
export const counted =
  (engine: string) =>
  <A, R>(effect: Effect.Effect<A, RecognitionFailed, R>): Effect.Effect<A, RecognitionFailed, R> =>
    Metric.modify(Metric.withAttributes(live, { engine }), 1).pipe(
      Effect.andThen(effect),
      Effect.onExit((exit) =>
        Effect.andThen(
          Metric.modify(Metric.withAttributes(live, { engine }), -1),
          Metric.update(Metric.withAttributes(sessions, { engine, outcome: outcomeOf(exit) }), 1)
        )
      )
    )
