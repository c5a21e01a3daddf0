import { Cause, Effect, Exit, Metric } from "effect"

const utterances = Metric.counter("speech_utterances_total", {
  description: "Utterances that engines were asked for, by outcome: completed, stopped, or why they failed",
  incremental: true
})

const first = Metric.histogram("speech_first_sound_seconds", {
  description: "From asking an engine for an utterance until its first sound",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
})

export const firstSound = (engine: string) => Metric.withAttributes(first, { engine })

const outcomeOf = (exit: Exit.Exit<unknown, { readonly reason: string }>): string => {
  if (Exit.isSuccess(exit)) return "completed"
  if (Cause.hasInterruptsOnly(exit.cause)) return "stopped"
  return exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error.reason ?? "speech_failed"
}

/** Counts an utterance of an engine by its outcome. */
export const counted =
  (engine: string) =>
  <A, E extends { readonly reason: string }, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.onExit(effect, (exit) =>
      Metric.update(Metric.withAttributes(utterances, { engine, outcome: outcomeOf(exit) }), 1)
    )
