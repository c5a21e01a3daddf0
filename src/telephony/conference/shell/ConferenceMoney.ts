import { Effect, Option, Result } from "effect"
import type { Accounts, Live, Reserving } from "../../../money/account/Account.ts"
import type { Prepared } from "../../../runtime/actor/Behavior.ts"
import * as Machine from "../../../runtime/actor/Machine.ts"
import type { Billing } from "../../../money/billing/Billing.ts"
import { AccountAnswer, Meter, Reservation } from "../../call/Call.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import type { ConferenceInput } from "../machine/ConferenceInput.ts"
import * as ConferenceMachine from "../machine/ConferenceMachine.ts"
import type { ConferenceStep } from "../stored/ConferenceRecord.ts"
import { type ConferenceState, isCompleted } from "../machine/ConferenceState.ts"
import * as RecordingMoney from "../machine/RecordingMoney.ts"
import * as StoredConference from "../stored/StoredConference.ts"

/**
 * The exchange between a conference and its account about the minutes of its recordings, as between a call and its
 * account (src/money/README.md#admission). A reservation is in flight until the conference has committed it.
 */

type Asking = Effect.Effect<Prepared<ConferenceInput>, ApiError>

export const make = (options: {
  readonly accounts: Pick<Accounts["Service"], "reserve" | "began" | "abandoned" | "holds" | "told">
  readonly prices: Billing["Service"]["prices"]
}) => {
  const { accounts, prices } = options

  /** Reports to the account the reservation that the state holds. */
  const held = (state: ConferenceState): Effect.Effect<void> => {
    const live = liveOf(state)
    return live === null ? accounts.abandoned(state.tenantId, state.id) : accounts.holds(state.tenantId, state.id, live)
  }

  const starting = (state: ConferenceState, input: Action, now: number): Asking | null => {
    const outcome = Machine.dryStep(ConferenceMachine.machine, state, input, now)
    // A refused request needs no money.
    if (outcome.type !== "accepted") return null
    return Effect.gen(function* () {
      const { recording: microUsdPerMinute } = yield* prices
      const meter = RecordingMoney.meterOf(state, null, microUsdPerMinute, 0)
      const [least] = Reservation.offers({ meters: [...state.meters, meter] }, now)
      const recording = { microUsdPerMinute, reservedMinutes: least.minutes }
      const request = { purpose: "renewal", offers: [least.cents], places: 0 } as const
      if (microUsdPerMinute > 0 && Option.isNone(yield* AccountAnswer.reserve(accounts, state, request))) {
        yield* held(state)
        return yield* AccountAnswer.busy
      }
      return { first: [], input: { ...input, recording } }
    })
  }

  const renewal = (state: ConferenceState, now: number): Effect.Effect<ConferenceInput> =>
    Effect.map(
      AccountAnswer.renewed(accounts, state, Reservation.offers(state, now), { places: 0 }),
      ({ reservedMinutes }): ConferenceInput => ({ type: "renewal", reservedMinutes })
    )

  return {
    held,
    /**
     * Runs in the turn of the conference, so that the account receives its requests in order. A recording may run
     * beyond its reservation when nothing can be committed; the next input finds it renewed or refused.
     */
    prepare: (state: ConferenceState, input: ConferenceInput, now: number): Asking | null => {
      if (input.type === "action" && input.action.verb === "record_start") return starting(state, input, now)
      if (input.type === "recovered") return null
      const isRenewal = input.type === "renewal"
      const at = RecordingMoney.renewsAt(state)
      const due = isRenewal ? at : RecordingMoney.endsAt(state)
      return at === null || due === null || due > now
        ? null
        : Effect.map(renewal(state, now), (renewed) =>
            isRenewal ? { first: [], input: renewed } : { first: [renewed], input }
          )
    },
    /** After the commit, the row of the conference accounts for the reservation, and the charge is in the ledger. */
    stored: ({ before, effects, input, state }: ConferenceStep): Effect.Effect<void> => {
      if (before === null) return Effect.void
      // A late answer may have reserved minutes that the conference does not know of.
      if (before.meters === state.meters && isCompleted(before) === isCompleted(state))
        return input.type === "renewal" ? held(state) : Effect.void
      if (!isCompleted(state)) return held(state)
      const chargedCents = effects.charges.reduce((sum, { cents }) => sum + cents, 0)
      // The number is always 1 because a conference ends once.
      return accounts.told(state.tenantId, { from: state.id, n: 1, body: { type: "ended", chargedCents } })
    },
    /** The commit was not written and will not be. */
    withdrawn: ({ before, input }: ConferenceStep): Effect.Effect<void> =>
      before !== null && (input.type === "renewal" || (input.type === "action" && input.recording !== undefined))
        ? held(before)
        : Effect.void,
    reader: ((row, inFlight) => {
      const state = StoredConference.shown(row)
      if (Result.isFailure(state) || isCompleted(state.success)) return null
      return AccountAnswer.larger(inFlight, liveOf(state.success))
    }) satisfies Reserving
  } as const
}

type Action = Extract<ConferenceInput, { readonly type: "action" }>

/** Null before the first recording that costs money, and after the end. */
const liveOf = ({ meters, status }: ConferenceState): Live | null => {
  if (status === "completed" || !meters.some(Meter.isPriced)) return null
  return { places: 0, reservedCents: Meter.mostCents(meters, (meter) => meter.reservedMinutes), heard: 0 }
}
