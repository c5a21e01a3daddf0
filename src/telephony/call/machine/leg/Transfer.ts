import type { CallInput } from "../CallInput.ts"
import { primary } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import * as Meter from "../Meter.ts"
import type { StepContext } from "../StepContext.ts"
import * as OnRoomEvent from "../room/OnRoomEvent.ts"
import type { Transfer } from "../../verb/Connect.ts"
import * as Bridging from "./Bridging.ts"
import * as Connecting from "./Connecting.ts"
import * as Leg from "./Leg.ts"

/**
 * Dials another leg for the call, guide/calls.md#transfer: composed of a dial and a bridge. The call's own leg hears
 * ring-back until the other one is answered, or fails.
 */
type Terms = NonNullable<Extract<CallInput, { readonly type: "action" }>["transfer"]>

/** `reservedMinutes` are the increments of the new leg. */
export const start = (
  builder: StepBuilder.StepBuilder,
  body: typeof Transfer.Type,
  { callerIdName, from, incarnation, legId, limit, ...price }: Terms,
  reservedMinutes: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  const alone = Bridging.leave(OnRoomEvent.leave(builder, context.now, context), context.now, context)
  const { state } = alone
  const commandId = StepBuilder.nextCommandId(alone, context)
  const leg = Leg.started(
    {
      id: legId,
      role: "transfer",
      direction: "outbound",
      from,
      to: body.to,
      ringSecs: body.timeoutSecs,
      limit,
      dialId: commandId,
      incarnation
    },
    context.now
  )
  const options = {
    near: primary(state).id,
    ...(callerIdName === undefined ? {} : { callerIdName }),
    ...(body.customHeaders.length === 0 ? {} : { headers: body.customHeaders })
  }
  const dialled = StepBuilder.sendPending(
    StepBuilder.set(alone, {
      legs: [...state.legs, leg],
      meters: [...state.meters, Meter.ofLeg(leg, price, reservedMinutes)]
    }),
    { type: "dial", commandId, legId: leg.id, options },
    {
      type: "dial",
      commandId,
      callId: state.id,
      legId: leg.id,
      tenantId: state.tenantId,
      routeId: state.routeId,
      from,
      to: body.to,
      ...options
    }
  )
  return Connecting.ringback(dialled, true, context)
}

/** Requests the bridge once the leg is answered. */
export const answered = (
  builder: StepBuilder.StepBuilder,
  leg: Leg.Leg,
  context: StepContext
): StepBuilder.StepBuilder =>
  Bridging.ask(
    Connecting.ringback(builder, false, context),
    { legId: leg.id, callId: builder.state.id },
    "transfer",
    context
  )
