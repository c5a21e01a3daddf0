import type { RejectCause } from "../carrier/Carrier.ts"
import type { CommandId } from "../domain/Id.ts"
import { type CallState, durationSeconds, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import type { Ending } from "./EndReason.ts"
import type { Leg } from "./leg/Leg.ts"
import * as Meter from "./Meter.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * Ends the call: it is terminal, rated and charged in the commit that says so. What is still there at the carrier is
 * hung up; that command stays pending until the leg's own end is reported.
 *
 * Work that is bound to a leg is closed first, each item with its event. So `call.ended` is the last event, except for
 * work that outlives its leg.
 */
export const end = (
  draft: Draft.Draft,
  ending: Ending,
  at: number,
  context: StepContext,
  options: { readonly rejectCause?: RejectCause } = {}
): Draft.Draft => {
  const { state } = draft
  const endedAt = Math.max(at, state.answeredAt ?? state.initiatedAt)
  const leg = primary(state)
  const closed = state.legs.reduce((open, { id }) => context.work.legEnded(open, id, endedAt), draft)
  const meters = Meter.ended(state.meters, endedAt)
  const terminal = Draft.set(closed, {
    status: ending.status,
    endedAt,
    endReason: ending.reason,
    endInitiator: ending.initiator,
    meters,
    ratingStatus: "rated",
    costCents: Meter.costCents(meters),
    pending: []
  })
  const legEnded = Draft.setLeg(terminal, leg.id, {
    status: ending.status,
    endedAt,
    endReason: ending.reason,
    endInitiator: ending.initiator
  })
  const announced = Draft.emit(legEnded, {
    type: "call.ended",
    data: {
      ...Draft.ids(state, leg.id),
      status: ending.status,
      endedAt,
      durationSeconds: durationSeconds(state.answeredAt, endedAt),
      endReason: ending.reason,
      endInitiator: ending.initiator
    }
  })
  const charged = Draft.tell(
    { ...announced, charges: Meter.charges(meters) },
    { type: "ended", chargedCents: Meter.chargeCents(meters) }
  )
  return state.legs.reduce(
    (open, each, index) =>
      each.gone
        ? open
        : release(open, each, context, options.rejectCause ?? null, Draft.commandId(context, 100 + index)),
    charged
  )
}

/** The ending of a call that cannot go on through no fault of its parties. */
export const failing = (state: CallState, reason: "carrier_error" | "tenant_suspended"): Ending => ({
  status: state.answeredAt === null ? "failed" : "ended",
  reason,
  initiator: "system"
})

/** The ending of a call that somebody on our side hung up. */
export const hungUp = (state: CallState, initiator: Ending["initiator"]): Ending => ({
  status: "ended",
  reason: state.answeredAt === null ? "cancelled" : "normal_clearing",
  initiator
})

/** Takes a leg down at the carrier: refuses an inbound one that nobody answered, and hangs up any other. */
export const release = (
  draft: Draft.Draft,
  leg: Leg,
  context: StepContext,
  rejectCause: RejectCause | null,
  commandId: CommandId
): Draft.Draft => {
  const { state } = draft
  const of = { commandId, callId: state.id, legId: leg.id }
  return Draft.sendPending(
    draft,
    { type: "hangup", commandId, legId: leg.id, since: context.now, rejectCause },
    rejectCause !== null && leg.direction === "inbound" && leg.answeredAt === null
      ? { ...of, type: "reject", cause: rejectCause, resume: leg.resume }
      : {
          ...of,
          type: "hangup",
          resume: leg.resume,
          origin:
            leg.dialId === null ? null : { dialId: leg.dialId, routeId: state.routeId, from: leg.from, to: leg.to }
        }
  )
}
