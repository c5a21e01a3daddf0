import type { RejectCause } from "../../../carrier/Carrier.ts"
import { durationSeconds, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import type { Ending } from "./EndReason.ts"
import * as Connecting from "./leg/Connecting.ts"
import { type Leg, lives } from "./leg/Leg.ts"
import { release } from "./leg/Release.ts"
import * as Meter from "./Meter.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * Ends the call: it is terminal, rated and charged in the same commit. Legs that are still at the carrier are hung up;
 * that command stays pending until the leg's own end is reported.
 *
 * Work that is bound to a leg is closed first, each item with its event. So `call.ended` is the last event, except for
 * work that outlives its leg.
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
    meters,
    room: null,
    letGo: null,
    ratingStatus: "rated",
    costCents: Meter.costCents(meters),
    legs: closed.state.legs.map((each) => over(each, each.id === leg.id ? ending : withCall(each, ending), endedAt)),
    // A hang-up of a leg that ended before may still be pending.
    pending: closed.state.pending.filter(({ type }) => type === "hangup")
  })
  const announced = StepBuilder.emit(terminal, {
    type: "call.ended",
    data: {
      ...StepBuilder.ids(state, leg.id),
      status: ending.status,
      endedAt,
      durationSeconds: durationSeconds(state.answeredAt, endedAt),
      endReason: ending.reason,
      endInitiator: ending.initiator,
      sipStatus: leg.sipStatus,
      sipReason: leg.peerReason,
      quality: leg.quality
    }
  })
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

/** The ending of another leg that ends with the call. */
const withCall = ({ answeredAt }: Leg, { initiator, reason }: Ending): Ending => ({
  status: "ended",
  reason: answeredAt === null ? "cancelled" : reason,
  initiator
})

const over = (leg: Leg, { initiator, reason, status }: Ending, at: number): Leg =>
  lives(leg)
    ? {
        ...leg,
        status,
        endedAt: Math.max(at, leg.answeredAt ?? leg.initiatedAt),
        endReason: reason,
        endInitiator: initiator,
        bridge: null
      }
    : leg
