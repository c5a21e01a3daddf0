import { Effect, Metric } from "effect"
import type { Step } from "../actor/Actor.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, durationSeconds, isTerminal } from "./CallState.ts"

/**
 * A line for the beginning and one for the end of each call, which are written once the commit that says so is stored,
 * and the counter of what calls end with. How the call sounded is a line of its leg, by the same ids.
 */
const ended = Metric.counter("calls_ended_total", {
  description: "Calls that have ended, by direction and reason",
  incremental: true
})

/** Where a number belongs can be seen, and not whose it is: its last four digits are hidden. */
export const masked = (number: string): string => number.replace(/.{1,4}$/u, "****")

const idsOf = (state: CallState) => ({
  callId: state.id,
  tenantId: state.tenantId,
  routeId: state.routeId,
  legIds: state.legs.map(({ id }) => id).join(" "),
  adapter: state.adapter,
  direction: state.direction,
  from: masked(state.from),
  to: masked(state.to)
})

/** The status of the final answer of SIP that ended the call; null: none did. */
const sipStatusOf = (input: CallInput): number | null =>
  input.type === "carrier" && input.event.type === "ended" ? input.event.sipStatus : null

export const line = (
  step: Pick<Step<CallState, CallInput, unknown>, "before" | "input" | "state">
): { readonly message: string; readonly of: Readonly<Record<string, unknown>> } | null => {
  const { before, input, state } = step
  if (isTerminal(state) && (before === null || !isTerminal(before)))
    return {
      message: "call ended",
      of: {
        ...idsOf(state),
        status: state.status,
        reason: state.endReason,
        initiator: state.endInitiator,
        sipStatus: sipStatusOf(input),
        durationSecs: durationSeconds(state.answeredAt, state.endedAt),
        costCents: state.costCents
      }
    }
  return before === null ? { message: "call began", of: idsOf(state) } : null
}

/** Writes the lines of a step that was committed. */
export const committed = (step: Step<CallState, CallInput, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const written = line(step)
    if (written === null) return Effect.void
    const { endReason } = step.state
    const logged = Effect.annotateLogs(Effect.logInfo(written.message), written.of)
    if (written.message === "call began" || endReason === null) return logged
    const attributes = { direction: step.state.direction, reason: endReason }
    return Effect.andThen(logged, Metric.update(Metric.withAttributes(ended, attributes), 1))
  })
