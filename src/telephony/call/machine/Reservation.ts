import type { Live } from "../../../money/account/Account.ts"
import { type Outcome, unchanged } from "../../../runtime/actor/Machine.ts"
import type { CallInput } from "./CallInput.ts"
import type { CallState } from "./CallState.ts"
import { isTerminal, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import { lives } from "./leg/Leg.ts"
import * as Meter from "./Meter.ts"
import * as Increments from "../../../domain/price/Increments.ts"

/**
 * The reservation of a call with its account, guide/money.md#reservations: the minutes that each of its meters may run,
 * from the admission on, renewed while the call talks.
 *
 * Each meter has its reserved end. `leadMs` before the first of them the shell asks the account for more; the answer is
 * an input of the call, and the one commit of a renewal. Without a renewal the call is over at that end: a lost or late
 * answer costs the tenant the call, and no party any money.
 */

/** How long before its reserved end a meter is renewed. A healthy account answers within a millisecond. */
export const leadMs = 15_000

/** The wait after a refusal before the account is asked again, while the reserved end has not passed. */
const retryMs = 5_000

const minuteMs = 60_000

/** How many minutes beyond the next one an account with plenty may reserve, so that long calls commit less often. */
const gladlyMinutes = 4

/** One possible reservation: the increments of each meter from its start, and their total price. */
export interface Offer {
  readonly cents: number
  /** By the index of the meter. Most meters count minutes. */
  readonly minutes: ReadonlyArray<number>
}

const ends = (state: Pick<CallState, "meters">): ReadonlyArray<number> =>
  state.meters.flatMap((meter) => Meter.reservedEnd(meter) ?? [])

/** When the first meter reaches its reserved end; null: no priced meter runs. */
export const endsAt = (state: CallState): number | null => {
  const all = ends(state)
  return isTerminal(state) || all.length === 0 ? null : Math.min(...all)
}

/**
 * When the account is asked for more; null: nothing costs money, the reservation lasts to the limit of the call, or
 * after a refusal there is no time to ask again.
 */
export const renewsAt = (state: CallState): number | null => {
  const end = endsAt(state)
  if (end === null || (state.answeredAt !== null && end >= state.answeredAt + primary(state).limit.afterSecs * 1000))
    return null
  if (state.renewalRefusedAt === null) return end - leadMs
  const again = state.renewalRefusedAt + retryMs
  return again < end ? again : null
}

const offerOf = (meters: Meter.Meters, minutes: ReadonlyArray<number>): Offer => ({
  cents: Meter.mostCents(meters, (_, index) => minutes[index] ?? 0),
  minutes
})

/**
 * The offers at `now`: at least enough for the lead, in whole minutes of the increments of each meter, and more if
 * possible. The amounts ascend.
 */
export const offers = (
  { meters }: Pick<CallState, "meters">,
  now: number
): readonly [Offer, ...ReadonlyArray<Offer>] => {
  /** The number of the minute at whose beginning the lead ends. */
  const minuteOf = (meter: Meter.Meter): number =>
    meter.startedAt === null ? 1 : Math.floor(((meter.pausedAt ?? now) + leadMs - meter.startedAt) / minuteMs) + 1
  const wanted = (meter: Meter.Meter, more: number): number =>
    meter.endedAt === null
      ? Math.max(
          meter.reservedMinutes,
          Increments.ofMinutes(meter, minuteOf(meter) + (meter.startedAt === null ? 0 : more))
        )
      : meter.reservedMinutes
  const offer = (more: number): Offer =>
    offerOf(
      meters,
      meters.map((meter) => wanted(meter, more))
    )
  return [offer(0), ...Array.from({ length: gladlyMinutes }, (_, index) => offer(index + 1))]
}

/**
 * The offers of a renewal that are smaller than the least of `offers`, for an account that cannot pay for that one.
 * They last to each of the next seconds. The amounts ascend. None where all meters count minutes, or where the reserved
 * end has passed.
 */
export const smallerOffers = (state: Pick<CallState, "meters">, now: number): ReadonlyArray<Offer> => {
  const { meters } = state
  const [least] = offers(state, now)
  const end = Math.min(...ends(state))
  if (end <= now || end === Infinity || meters.every(({ increments }) => increments === undefined)) return []
  const lasting = (until: number): Offer =>
    offerOf(
      meters,
      meters.map((meter) =>
        Meter.reservedEnd(meter) === null
          ? meter.reservedMinutes
          : Math.max(meter.reservedMinutes, Increments.started(meter, until - (meter.startedAt ?? until)))
      )
    )
  // The longest of the offers for the same money counts.
  const byCents = new Map<number, Offer>()
  for (let secs = 1; secs <= minuteMs / 1_000; secs++) {
    const offer = lasting(end + secs * 1_000)
    if (offer.cents < least.cents) byCents.set(offer.cents, offer)
  }
  return [...byCents.values()]
}

/** The call with these increments reserved. No meter loses any that it had. */
export const held = (state: CallState, minutes: ReadonlyArray<number>): CallState => ({
  ...state,
  meters: state.meters.map((meter, index) => ({
    ...meter,
    reservedMinutes: Math.max(meter.reservedMinutes, minutes[index] ?? 0)
  }))
})

/** The row of a renewal. Without minutes the account refused, or did not answer. */
export const renewed = (
  state: CallState,
  { refusal, reservedMinutes }: Extract<CallInput, { readonly type: "renewal" }>,
  now: number
): StepBuilder.StepBuilder | Outcome<never, never> => {
  const at = renewsAt(state)
  if (at === null || at > now) return unchanged
  const { renewalRefusal: _, ...asked } = state
  return StepBuilder.from(
    reservedMinutes === null
      ? { ...asked, renewalRefusedAt: now, ...(refusal === undefined ? {} : { renewalRefusal: refusal }) }
      : { ...held(asked, reservedMinutes), renewalRefusedAt: null }
  )
}

/** The places of the concurrent limit that a call takes: one, and another for each live leg of a transfer. */
export const places = ({ legs }: Pick<CallState, "legs">): number =>
  1 + legs.filter((leg) => leg.role === "transfer" && lives(leg)).length

/**
 * The reservation that the account keeps for a call: an outbound call counts from its beginning, an inbound one from
 * the request to answer it; null: nothing.
 */
export const live = (state: CallState): Live | null => {
  if (isTerminal(state)) return null
  const counts =
    state.direction === "outbound" ||
    state.answeredAt !== null ||
    state.pending.some((pending) => pending.type === "answer")
  return counts
    ? {
        places: places(state),
        reservedCents: Meter.mostCents(state.meters, (meter) => meter.reservedMinutes),
        heard: state.told
      }
    : null
}
