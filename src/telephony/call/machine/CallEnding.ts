import type { RejectCause } from "../../../carrier/Carrier.ts"
import * as EndWhy from "../../../domain/EndWhy.ts"
import { type CallState, durationSeconds, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import type { Ending } from "./EndReason.ts"
import * as Connecting from "./leg/Connecting.ts"
import { type Leg, lives } from "./leg/Leg.ts"
import { release } from "./leg/Release.ts"
import * as Meter from "./Meter.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * How long `call.ended` waits for the sound quality of an answered call, from its end on. Nothing but the event waits:
 * the call is over, rated and charged before.
 */
const announceMs = 500

/**
 * Ends the call: it is terminal, rated and charged in the same commit. Legs that are still at the carrier are hung up;
 * that command stays pending until the leg's own end is reported.
 *
 * Work that is bound to a leg is closed first, each item with its event. So `call.ended` is the last event, except for
 * work that outlives its leg. Where the sound quality of the call's own leg is still to come, `call.ended` waits for
 * it (`announceBy`).
 */
export const end = (
  builder: StepBuilder.StepBuilder,
  ending: Ending,
  at: number,
  context: StepContext,
  options: {
    readonly rejectCause?: RejectCause
    /** The far end of the call's own leg hung up. */
    readonly byFar?: boolean
    /** No sound quality is still to come: the carrier has reported it, or has no leg to measure. */
    readonly isMeasured?: boolean
  } = {}
): StepBuilder.StepBuilder => {
  const { state } = builder
  const endedAt = Math.max(at, state.answeredAt ?? state.initiatedAt)
  const leg = primary(state)
  const unfinished = Connecting.abandoned(builder, options.byFar ?? false, endedAt)
  const closed = state.legs.reduce((open, { id }) => context.work.legEnded(open, id, endedAt), unfinished)
  const meters = Meter.ended(closed.state.meters, endedAt)
  const terminal = StepBuilder.set(closed, {
    status: ending.status,
    endedAt,
    endReason: ending.reason,
    endInitiator: ending.initiator,
    ...(state.rules === undefined ? { endWhy: ending.why } : {}),
    meters,
    room: null,
    letGo: null,
    ratingStatus: "rated",
    costCents: Meter.costCents(meters),
    legs: closed.state.legs.map((each) =>
      over(state, each, each.id === leg.id ? ending : withCall(each, ending), endedAt)
    ),
    // A hang-up of a leg that ended before may still be pending.
    pending: closed.state.pending.filter(({ type }) => type === "hangup")
  })
  const isComing = state.rules === undefined && leg.answeredAt !== null && !leg.gone && options.isMeasured !== true
  const announced = isComing
    ? StepBuilder.set(terminal, { announceBy: Math.max(context.now, endedAt) + announceMs })
    : emitEnded(terminal, ending)
  const charged = StepBuilder.tell(
    { ...announced, charges: Meter.charges(meters) },
    { type: "ended", chargedCents: Meter.chargeCents(meters) }
  )
  return state.legs.reduce(
    (open, each, index) =>
      each.gone || !lives(each)
        ? open
        : release(open, each, context, options.rejectCause ?? null, StepBuilder.commandId(context, 100 + index)),
    charged
  )
}

/** Emits the `call.ended` that waits, with all that is known by now. Without one it changes nothing. */
export const announce = (builder: StepBuilder.StepBuilder): StepBuilder.StepBuilder => {
  const { announceBy, endInitiator, endReason, endWhy = "unspecified", status, ...state } = builder.state
  return announceBy === undefined || (status !== "ended" && status !== "failed")
    ? builder
    : emitEnded(
        { ...builder, state: { ...state, status, endReason, endInitiator, endWhy } },
        {
          status,
          reason: endReason as Ending["reason"],
          initiator: endInitiator as Ending["initiator"],
          why: endWhy
        }
      )
}

const emitEnded = (
  builder: StepBuilder.StepBuilder,
  { initiator, reason, status, why }: Ending
): StepBuilder.StepBuilder => {
  const { state } = builder
  const leg = primary(state)
  const endedAt = state.endedAt ?? state.at
  return StepBuilder.emit(builder, {
    type: "call.ended",
    data: {
      ...StepBuilder.ids(state, leg.id),
      status,
      endedAt,
      durationSeconds: durationSeconds(state.answeredAt, endedAt),
      endReason: reason,
      endInitiator: initiator,
      why: EndWhy.of(why),
      sipStatus: leg.sipStatus,
      sipReason: leg.peerReason,
      quality: leg.quality
    }
  })
}

/** The ending of another leg that ends with the call. */
const withCall = ({ answeredAt }: Leg, { initiator, reason }: Ending): Ending => ({
  status: "ended",
  reason: answeredAt === null ? "cancelled" : reason,
  initiator,
  why: "call_ended"
})

const over = ({ rules }: CallState, leg: Leg, { initiator, reason, status, why }: Ending, at: number): Leg =>
  lives(leg)
    ? {
        ...leg,
        status,
        endedAt: Math.max(at, leg.answeredAt ?? leg.initiatedAt),
        endReason: reason,
        endInitiator: initiator,
        ...(rules === undefined ? { endWhy: why } : {}),
        bridge: null
      }
    : leg
