import { Meter, Reservation } from "../../call/Call.ts"
import * as Id from "../../../domain/Id.ts"
import { type ConferenceState, isCompleted } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"

/**
 * The cost of a room's recordings, guide/money.md#what-a-call-costs: each has a meter, as a recording of a call has.
 * They are reserved minute by minute, and debited together with the conference's end. An unpaid recording ends; the
 * room continues.
 */

/** The wait after a refusal before the account is asked again, while the reserved end has not passed. */
const retryMs = 5_000

/** The meter of a recording that begins now, with these minutes reserved. */
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
 * When the running recording reaches its reserved end; null: none runs, or it costs nothing now. Only one runs at a
 * time.
 */
export const endsAt = ({ meters }: ConferenceState): number | null => {
  const meter = meters.find((each) => each.endedAt === null)
  return meter === undefined ? null : Meter.reservedEnd(meter)
}

/** When the account is asked for more; null: nothing costs money, or after a refusal there is no time to ask again. */
export const renewsAt = (state: ConferenceState): number | null => {
  const end = endsAt(state)
  if (end === null) return null
  if (state.renewalRefusedAt === null) return end - Reservation.leadMs
  const again = state.renewalRefusedAt + retryMs
  return again < end ? again : null
}

/** When a refused recording runs out of reserved minutes. */
export const unpaidAt = (state: ConferenceState): number | null =>
  state.renewalRefusedAt === null ? null : endsAt(state)

/** Applies the account's answer; null: it refused, or did not answer. */
export const renewed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  minutes: ReadonlyArray<number> | null,
  now: number
): ConferenceStepBuilder.ConferenceStepBuilder =>
  minutes === null
    ? ConferenceStepBuilder.set(builder, { renewalRefusedAt: now })
    : ConferenceStepBuilder.set(builder, { renewalRefusedAt: null, meters: held(builder.state.meters, minutes) })

/** The meters with these minutes reserved. No meter loses minutes that it had. */
export const held = (meters: Meter.Meters, minutes: ReadonlyArray<number>): Meter.Meters =>
  meters.map((meter, index) => ({
    ...meter,
    reservedMinutes: Math.max(meter.reservedMinutes, minutes[index] ?? 0)
  }))

/** Updates the meters to the recordings after the step. They are charged when the conference ends. */
export const followed = (
  before: ConferenceState,
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  now: number
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  const at = state.endedAt ?? now
  const meters = before.recordings.reduce<Meter.Meters>((open, was) => {
    if (was.until !== null) return open
    const is = state.recordings.find(({ id }) => id === was.id)
    if (is === undefined || is.until !== null) return Meter.workEnded(open, was.id, at)
    return is.isPaused === was.isPaused ? open : Meter.paused(open, was.id, is.isPaused, now)
  }, state.meters)
  const over = isCompleted(state) && !isCompleted(before)
  return meters === state.meters && !over
    ? builder
    : {
        ...ConferenceStepBuilder.set(builder, { meters }),
        charges: over ? [...builder.charges, ...Meter.charges(meters)] : builder.charges
      }
}
