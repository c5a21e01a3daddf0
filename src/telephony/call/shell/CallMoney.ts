import { Effect, Option, Result } from "effect"
import type { Accounts, Request, Reserving } from "../../../money/account/Account.ts"
import type { Prepared, Step } from "../../../runtime/actor/Behavior.ts"
import * as Machine from "../../../runtime/actor/Machine.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import type { CallId } from "../../../domain/Id.ts"
import * as AccountAnswer from "./AccountAnswer.ts"
import type { CallInput } from "../machine/CallInput.ts"
import * as CallMachine from "../machine/CallMachine.ts"
import { type CallState, isTerminal, primary } from "../machine/CallState.ts"
import { ownPeer } from "../machine/leg/Bridging.ts"
import type { Effects } from "../machine/StepBuilder.ts"
import * as Meter from "../machine/Meter.ts"
import * as CallSetup from "../machine/CallSetup.ts"
import * as Reservation from "../machine/Reservation.ts"
import * as RoomAnswer from "../machine/room/RoomAnswer.ts"
import * as Upgrade from "../stored/Upgrade.ts"
import * as TestMoney from "./TestMoney.ts"
import { priceOf } from "../verb/CallVerbs.ts"

/**
 * The exchange between a live call and its account (src/money/README.md#admission). The account answers from memory,
 * and neither waits for a commit of the other: a reservation is in flight until the call has committed it, and an
 * answer that does not come is a refusal.
 */

/** The request for one more meter beside those that the call has. */
const addition = (state: CallState, meter: Meter.Meter, now: number) => {
  const [{ cents, minutes }] = Reservation.offers({ meters: [...state.meters, meter] }, now)
  const isLeg = meter.kind === "leg"
  const request: Request = {
    purpose: isLeg ? "transfer" : "renewal",
    offers: [cents],
    places: Reservation.places(state) + (isLeg && ownPeer(state) === null ? 1 : 0),
    ...TestMoney.takenBy(state.adapter)
  }
  return { minutes, request }
}

/** The request that a call will make when it enters a conference; null: the stay is free. */
export const staying = (state: CallState, now: number): Request | null => {
  const stay = Meter.ofWork("conference", primary(state), state.prices.conference, 0)
  return Meter.isPriced(stay) ? addition(state, stay, now).request : null
}

/** `hasGivenUp`: whether nothing of the call can be committed, so that its legs were taken down. */
export const make = (
  accounts: Pick<Accounts["Service"], "reserve" | "began" | "abandoned" | "holds">,
  hasGivenUp: (callId: CallId) => boolean = () => false
) => {
  const renewal = (state: CallState, now: number): Effect.Effect<CallInput> =>
    Effect.map(
      AccountAnswer.renewed(
        accounts,
        state,
        Reservation.offers(state, now),
        { places: Reservation.places(state), ...TestMoney.takenBy(state.adapter) },
        Reservation.smallerOffers(state, now)
      ),
      (renewed): CallInput => ({ type: "renewal", ...renewed })
    )

  /** Money and a place for an inbound call that is being answered. */
  const answering = Effect.fnUntraced(function* (
    state: CallState,
    input: Action,
    body: Parameters<typeof CallSetup.answered>[1],
    now: number
  ) {
    const starts = CallSetup.kinds(CallSetup.answered(state.plan, body)).map((kind) =>
      Meter.ofWork(kind, primary(state), state.prices[kind], 0)
    )
    const [least] = Reservation.offers({ meters: [...state.meters, ...starts] }, now)
    const reserved = yield* AccountAnswer.reserve(accounts, state, {
      purpose: "answer",
      offers: [least.cents],
      ...TestMoney.takenBy(state.adapter)
    })
    if (Option.isNone(reserved)) {
      // The account may still grant the request later, so it is informed afterwards that the request was abandoned.
      yield* accounts.abandoned(state.tenantId, state.id)
      return yield* AccountAnswer.busy
    }
    return { first: [], input: { ...input, reservedMinutes: least.minutes } }
  })

  /** The reservation of a call. One that has given up has no leg any more, and takes no place. */
  const liveOf = (state: CallState): ReturnType<typeof Reservation.live> => {
    const live = Reservation.live(state)
    return live !== null && hasGivenUp(state.id) ? { ...live, places: 0 } : live
  }

  /** Reports to the account the reservation that the state holds, which replaces any that is not needed. */
  const held = (state: CallState): Effect.Effect<void> => {
    const live = liveOf(state)
    return live === null ? Effect.void : accounts.holds(state.tenantId, state.id, live)
  }

  /**
   * Money beside the present reservation: for another leg, with its place, or for work or a stay that begins now.
   * Returns the increments of each meter.
   */
  const adding = Effect.fnUntraced(function* (state: CallState, meter: Meter.Meter, now: number) {
    const { minutes, request } = addition(state, meter, now)
    const reserved = yield* AccountAnswer.reserve(accounts, state, request)
    if (Option.isNone(reserved)) {
      // The account may still grant the request later, so it is informed afterwards of what the call holds.
      yield* held(state)
      return yield* AccountAnswer.busy
    }
    return minutes
  })

  /**
   * Money for a stay. A refusal is passed on to the conference; while the account is busy, the conference asks again.
   */
  const entering = (state: CallState, input: Told, meter: Meter.Meter, now: number) =>
    Effect.matchEffect(adding(state, meter, now), {
      onSuccess: (reservedMinutes) => Effect.succeed({ first: [], input: { ...input, reservedMinutes } }),
      onFailure: (refused) =>
        refused.code === "service_unavailable"
          ? Effect.fail(refused)
          : Effect.succeed({ first: [], input: { ...input, reservedMinutes: null } })
    })

  return {
    held,
    /**
     * Runs in the turn of the call, so that the account receives its requests in order. An inbound call asks before it
     * is answered. When a call has run beyond its reservation because nothing could be committed for a while, the next
     * input finds it renewed or refused.
     */
    prepare: (state: CallState, input: CallInput, now: number): Effect.Effect<Prepared<CallInput>, ApiError> | null => {
      if (input.type === "action" && input.action.verb === "answer" && mayAnswer(state))
        return answering(state, input, input.action.body, now)
      const meter = input.type === "action" ? meterOf(state, input, now) : null
      if (input.type === "action" && meter !== null)
        return Effect.map(adding(state, meter, now), (reservedMinutes) => ({
          first: [],
          input: { ...input, reservedMinutes }
        }))
      if (input.type === "told" && input.tell.type === "enter" && state.prices.conference > 0) {
        const stay = RoomAnswer.meterOf(state, input.tell)
        if (stay !== null) return entering(state, input, stay, now)
      }
      if (input.type === "renewal") {
        const at = Reservation.renewsAt(state)
        return at === null || at > now
          ? null
          : Effect.map(renewal(state, now), (renewed) => ({ first: [], input: renewed }))
      }
      if (input.type === "recovered") return null
      const endsAt = Reservation.endsAt(state)
      return endsAt === null || endsAt > now || Reservation.renewsAt(state) === null
        ? null
        : Effect.map(renewal(state, now), (first) => ({ first: [first], input }))
    },
    /** After the commit, the row of the call accounts for the reservation. */
    stored: ({ before, input, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> => {
      if (before === null || input.type === "renewal") return accounts.began(state.tenantId, state.id)
      // The call holds less than was reserved when the leg of an earlier transfer made room.
      return reserves(input) || lessens(before, state) ? held(state) : Effect.void
    },
    /** The commit was not written and will not be. */
    withdrawn: ({ before, input, state }: Step<CallState, CallInput, Effects>): Effect.Effect<void> => {
      if (before === null || input.type === "renewal" || !reserves(input)) return Effect.void
      return input.type === "action" && input.action.verb === "answer"
        ? accounts.abandoned(state.tenantId, state.id)
        : held(before)
    },
    reader: ((row, inFlight) => {
      const state = Upgrade.state(row)
      if (Result.isFailure(state) || isTerminal(state.success)) return null
      const live = liveOf(state.success)
      return AccountAnswer.larger(
        inFlight,
        live === null ? null : { ...live, ...TestMoney.takenBy(state.success.adapter) }
      )
    }) satisfies Reserving
  } as const
}

type Action = Extract<CallInput, { readonly type: "action" }>
type Told = Extract<CallInput, { readonly type: "told" }>

/**
 * The meter of the leg that this action dials, or of the work that it begins, before it is paid for; null: none. A dry
 * step decides that, because an action that the machine refuses, or that stops or changes work, needs no money.
 */
const meterOf = (state: CallState, input: Action, now: number): Meter.Meter | null => {
  const { action, transfer } = input
  const kind = priceOf(action.verb)
  if (transfer === undefined && (kind === null || state.prices[kind] === 0)) return null
  const outcome = Machine.dryStep(CallMachine.machine, state, input, now)
  const meter = outcome.type === "accepted" ? outcome.state.meters[state.meters.length] : undefined
  return meter === undefined ? null : { ...meter, startedAt: null, endedAt: null }
}

/** The call still lives and holds less of its account than before. */
const lessens = (before: CallState, state: CallState): boolean => {
  if (before.meters === state.meters && Reservation.places(before) === Reservation.places(state)) return false
  const [was, is] = [Reservation.live(before), Reservation.live(state)]
  return was !== null && is !== null && (is.places < was.places || is.reservedCents < was.reservedCents)
}

const mayAnswer = (state: CallState): boolean =>
  !isTerminal(state) && state.direction === "inbound" && Reservation.live(state) === null

const reserves = (input: CallInput): boolean =>
  input.type === "renewal" ||
  (input.type === "action" && input.reservedMinutes !== undefined) ||
  (input.type === "told" && input.reservedMinutes != null)
