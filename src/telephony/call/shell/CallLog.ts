import { Effect, Metric } from "effect"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import { type LegSound, LegSounds } from "../../../carrier/LegSounds.ts"
import type { CallInput } from "../machine/CallInput.ts"
import { type CallState, durationSeconds, isTerminal } from "../machine/CallState.ts"

/**
 * Writes one log line when a call begins and one when it ends, each after its commit is stored, and counts the reasons
 * for endings. The last line reports the sound quality; each leg has a line with more figures under the same ids.
 */
const ended = Metric.counter("calls_ended_total", {
  description: "Calls that have ended, by direction and reason",
  incremental: true
})

/** Hides the last four digits of a number: its region stays visible, but not its owner. */
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

/** The status of the final SIP answer that ended the call; null: none did. */
const sipStatusOf = (input: CallInput): number | null =>
  input.type === "carrier" && (input.event.type === "ended" || input.event.type === "leaving")
    ? input.event.sipStatus
    : null

/** The call has ended, and its figures are known or will not come: the line is written with `call.ended`. */
const isReported = (state: CallState): boolean => isTerminal(state) && state.announceBy === undefined

interface Line {
  readonly message: string
  readonly of: Readonly<Record<string, unknown>>
}

export const line = (step: Pick<Step<CallState, CallInput, unknown>, "before" | "input" | "state">): Line | null => {
  const { before, input, state } = step
  if (isReported(state) && (before === null || !isReported(before)))
    return {
      message: "call ended",
      of: {
        ...idsOf(state),
        status: state.status,
        reason: state.endReason,
        initiator: state.endInitiator,
        why: state.endWhy ?? null,
        sipStatus: sipStatusOf(input),
        durationSecs: durationSeconds(state.answeredAt, state.endedAt),
        costCents: state.costCents
      }
    }
  return before === null ? { message: "call began", of: idsOf(state) } : null
}

const rounded = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits))

/** The sound figures of the worst leg; a leg that received nothing is the worst of all. */
export const worst = (sounds: ReadonlyArray<LegSound | null>): Readonly<Record<string, unknown>> => {
  const measured = sounds.filter((sound) => sound !== null)
  const [sound] = [...measured].sort((one, other) => (one.mos ?? 0) - (other.mos ?? 0))
  return {
    codec: sound?.codec ?? null,
    packetsReceived: sound?.packetsReceived ?? null,
    loss: rounded(sound?.loss ?? null, 4),
    jitterMs: rounded(sound?.jitterMs ?? null, 1),
    jitterMeanMs: rounded(sound?.jitterMeanMs ?? null, 1),
    jitterMaxMs: rounded(sound?.jitterMaxMs ?? null, 1),
    mos: rounded(sound?.mos ?? null, 2)
  }
}

/** Makes the writer of the lines of a committed step. It does not wait for the sound figures. */
export const make = Effect.gen(function* () {
  const sounds = yield* LegSounds

  const writeEnd = (state: CallState, { message, of }: Line): Effect.Effect<void> =>
    Effect.flatMap(
      Effect.forEach(state.legs, ({ id }) => sounds.take(id), { concurrency: "unbounded" }),
      (heard) => Effect.annotateLogs(Effect.logInfo(message), { ...of, ...worst(heard) })
    )

  return (step: Step<CallState, CallInput, unknown>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { state } = step
      const written = line(step)
      if (written === null) return Effect.void
      if (state.endReason === null || !isTerminal(state))
        return Effect.annotateLogs(Effect.logInfo(written.message), written.of)
      const attributes = { direction: state.direction, reason: state.endReason }
      return Effect.andThen(
        Effect.forkDetach(writeEnd(state, written), { startImmediately: true }),
        Metric.update(Metric.withAttributes(ended, attributes), 1)
      )
    })
})
