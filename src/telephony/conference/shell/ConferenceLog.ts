import { Effect, Metric } from "effect"
import type { ConferenceStep } from "../stored/ConferenceRecord.ts"
import { isCompleted } from "../machine/ConferenceState.ts"

/** Writes one log line when a conference begins and one when it ends, each after its commit is stored. */
const ended = Metric.counter("conferences_ended_total", {
  description: "Conferences that have ended, by whether they had begun",
  incremental: true
})

export const logged = ({ before, input, state }: ConferenceStep): Effect.Effect<void> => {
  const of = { conferenceId: state.id, tenantId: state.tenantId, adapter: state.adapter, hostCallId: state.hostCallId }
  if (before === null) return Effect.annotateLogs(Effect.logInfo("conference began"), of)
  if (isCompleted(before) || !isCompleted(state)) return Effect.void
  const { endedAt, startedAt } = state
  return Effect.andThen(
    Effect.annotateLogs(Effect.logInfo("conference ended"), {
      ...of,
      because: input.type === "deadline" ? input.deadline : input.type,
      durationSecs: startedAt === null || endedAt === null ? 0 : Math.round((endedAt - startedAt) / 1000)
    }),
    Metric.update(Metric.withAttributes(ended, { started: String(startedAt !== null) }), 1)
  )
}
