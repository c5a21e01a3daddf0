import { Effect, Option, Result } from "effect"
import type { Accounts, Live, Reserving } from "../account/Account.ts"
import type { Prepared, Step } from "../actor/Behavior.ts"
import { ApiError } from "../domain/ApiError.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import type { Effects } from "./Draft.ts"
import * as Meter from "./Meter.ts"
import * as Reservation from "./Reservation.ts"
import * as Upgrade from "./Upgrade.ts"
import { type CallAction, priceOf } from "./verb/Verbs.ts"

/**
 * What a call and its account say to each other while the call lives (src/README.md#admission). The call asks, and its
 * account answers out of its memory. No commit of one waits for the other: what the account reserved is in flight until
 * the call has committed it, and an answer that does not come is a refusal.
 */

/** How long an answer is awaited. It must be well below `Reservation.leadMs`. */
const answerMs = 2_000

const busy = ApiError.of("service_unavailable", "the service is busy; try again")

export const make = (accounts: Pick<Accounts["Service"], "reserve" | "began" | "abandoned">) => {
  const renewal = (state: CallState, now: number): Effect.Effect<CallInput> => {
    const offers = Reservation.offers(state, now)
    const [least, ...more] = offers
    return accounts
      .reserve(state.tenantId, state.id, {
        purpose: "renewal",
        offers: [least.cents, ...more.map(({ cents }) => cents)]
      })
      .pipe(
        Effect.map(({ reservedCents }) => offers.findLast(({ cents }) => cents <= reservedCents)?.minutes ?? null),
        Effect.timeoutOption(answerMs),
        Effect.match({
          onFailure: () => null,
          onSuccess: Option.getOrNull
        }),
        Effect.map((reservedMinutes): CallInput => ({ type: "renewal", reservedMinutes }))
      )
  }

  /** Money and a place for an inbound call that is answered now. */
  const answering = Effect.fnUntraced(function* (
    state: CallState,
    input: Extract<CallInput, { readonly type: "action" }>,
    now: number
  ) {
    const [least] = Reservation.offers(state, now)
    const reserved = yield* Effect.timeoutOption(
      accounts.reserve(state.tenantId, state.id, { purpose: "answer", offers: [least.cents] }),
      answerMs
    )
    if (Option.isNone(reserved)) {
      // It may still come to it; behind that it hears that nobody waits for it.
      yield* accounts.abandoned(state.tenantId, state.id)
      return yield* busy
    }
    return { first: [], input: { ...input, reservedMinutes: least.minutes } }
  })

  /** Money for work that begins now, beside what the call has reserved. */
  const working = Effect.fnUntraced(function* (
    state: CallState,
    input: Extract<CallInput, { readonly type: "action" }>,
    meter: Meter.Meter,
    now: number
  ) {
    const [least] = Reservation.offers({ meters: [...state.meters, meter] }, now)
    const reserved = yield* Effect.timeoutOption(
      accounts.reserve(state.tenantId, state.id, { purpose: "renewal", offers: [least.cents] }),
      answerMs
    )
    if (Option.isNone(reserved)) return yield* busy
    return { first: [], input: { ...input, reservedMinutes: least.minutes } }
  })

  return {
    renewal,
    /**
     * Before an inbound call is answered, its account is asked. And whatever comes when a call has run beyond what it
     * reserved (nothing could be committed for a while) finds it renewed, or refused.
     */
    prepare: (state: CallState, input: CallInput, now: number): Effect.Effect<Prepared<CallInput>, ApiError> | null => {
      if (input.type === "action" && input.action.verb === "answer" && mayAnswer(state))
        return answering(state, input, now)
      const priced = input.type === "action" ? pricedBy(state, input.action) : null
      if (input.type === "action" && priced !== null) return working(state, input, priced, now)
      if (input.type === "renewal" || input.type === "recovered") return null
      const endsAt = Reservation.endsAt(state)
      return endsAt === null || endsAt > now || Reservation.renewsAt(state) === null
        ? null
        : Effect.map(renewal(state, now), (first) => ({ first: [first], input }))
    },
    /** After the commit: what was reserved for it stands in the row of the call. */
    stored: ({ before, input, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> =>
      before === null || reserves(input) ? accounts.began(state.tenantId, state.id) : Effect.void,
    /** The commit was not written, and will not be. */
    withdrawn: ({ input, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> =>
      // Work reserves beside what the call has: that stays, and the next renewal asks for what is needed.
      input.type === "action" && input.action.verb === "answer" && reserves(input)
        ? accounts.abandoned(state.tenantId, state.id)
        : Effect.void,
    reader: ((row, inFlight) => {
      const state = Upgrade.state(row)
      if (Result.isFailure(state) || isTerminal(state.success)) return null
      const stored = Reservation.live(state.success)
      return inFlight === null ? stored : larger(inFlight, stored)
    }) satisfies Reserving
  } as const
}

/** The meter of work that this action begins and that costs something; null: it costs nothing. */
const pricedBy = (state: CallState, action: CallAction): Meter.Meter | null => {
  const kind = priceOf(action.verb)
  if (kind === null || isTerminal(state) || state.answeredAt === null || state.prices[kind] === 0) return null
  return Meter.ofWork(kind, primary(state), state.prices[kind], 0)
}

const mayAnswer = (state: CallState): boolean =>
  !isTerminal(state) && state.direction === "inbound" && Reservation.live(state) === null

const reserves = (input: CallInput): boolean =>
  input.type === "renewal" || (input.type === "action" && input.reservedMinutes !== undefined)

/** A commit under way may have been read or not. */
const larger = (inFlight: Live, stored: Live | null): Live =>
  stored === null ? inFlight : { ...stored, reservedCents: Math.max(stored.reservedCents, inFlight.reservedCents) }
