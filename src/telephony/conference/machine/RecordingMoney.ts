import { Meter, Reservation } from "../../call/Call.ts"
import * as Id from "../../../domain/Id.ts"
import { type ConferenceState, isCompleted } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"

/**
 * What recordings of a room cost, guide/money.md#what-a-call-costs: each has a meter, as a recording of a call has. They
 * are reserved minute by minute, and debited together with the conference's end. A recording that is not paid for any
 * more ends; the room goes on.
 */

/** After a refusal the account is asked again, as long as the reserved end has not come. */
const retryMs = 5_000

/** The meter of a recording that begins now, with so many minutes reserved. */
export const meterOf = (
  state: Pick<ConferenceState, "id">,
  workId: Id.WorkId | null,
  microUsdPerMinute: number,
  reservedMinutes: number
): Meter.Meter => ({
  ...Meter.ofWork(
    "recording",
    { id: Id.derive(state.id, "leg"), direction: "outbound" },
    microUsdPerMinute,
    reservedMinutes
  ),
  workId
})

/**
 * When the recording that goes on comes to its reserved end; null: none does, or it costs nothing now. One runs at a
 * time.
 */
export const endsAt = ({ meters }: ConferenceState): number | null => {
  const meter = meters.find((each) => each.endedAt === null)
  return meter === undefined || meter.startedAt === null || meter.pausedAt !== null || !Meter.isPriced(meter)
    ? null
    : meter.startedAt + meter.reservedMinutes * Meter.minuteMs
}

/** When the account is to be asked for more; null: nothing costs, or it has refused and there is no time to ask again. */
export const renewsAt = (state: ConferenceState): number | null => {
  const end = endsAt(state)
  if (end === null) return null
  if (state.renewalRefusedAt === null) return end - Reservation.leadMs
  const again = state.renewalRefusedAt + retryMs
  return again < end ? again : null
}

/** When a recording is not paid for any more. */
export const unpaidAt = (state: ConferenceState): number | null =>
  state.renewalRefusedAt === null ? null : endsAt(state)

/** Null: the account refused, or did not answer. */
export const renewed = (draft: Draft.Draft, minutes: ReadonlyArray<number> | null, now: number): Draft.Draft =>
  minutes === null
    ? Draft.set(draft, { renewalRefusedAt: now })
    : Draft.set(draft, { renewalRefusedAt: null, meters: held(draft.state.meters, minutes) })

/** The meters when the account reserved so many minutes of each. What they had is not taken away. */
export const held = (meters: Meter.Meters, minutes: ReadonlyArray<number>): Meter.Meters =>
  meters.map((meter, index) => ({
    ...meter,
    reservedMinutes: Math.max(meter.reservedMinutes, minutes[index] ?? 0)
  }))

/** The meters follow what the step has made of the recordings. What they come to is charged with the end. */
export const followed = (before: ConferenceState, draft: Draft.Draft, now: number): Draft.Draft => {
  const { state } = draft
  const at = state.endedAt ?? now
  const meters = before.recordings.reduce<Meter.Meters>((open, was) => {
    if (was.until !== null) return open
    const is = state.recordings.find(({ id }) => id === was.id)
    if (is === undefined || is.until !== null) return Meter.workEnded(open, was.id, at)
    return is.isPaused === was.isPaused ? open : Meter.paused(open, was.id, is.isPaused, now)
  }, state.meters)
  const over = isCompleted(state) && !isCompleted(before)
  return meters === state.meters && !over
    ? draft
    : {
        ...Draft.set(draft, { meters }),
        charges: over ? [...draft.charges, ...Meter.charges(meters)] : draft.charges
      }
}
