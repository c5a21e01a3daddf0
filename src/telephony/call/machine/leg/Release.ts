import type { RejectCause } from "../../../../carrier/Carrier.ts"
import type { CommandId } from "../../../../domain/Id.ts"
import * as StepBuilder from "../StepBuilder.ts"
import type { StepContext } from "../StepContext.ts"
import type { Leg } from "./Leg.ts"

/** Takes a leg down at the carrier: rejects an unanswered inbound one, and hangs up any other. */
export const release = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  context: StepContext,
  rejectCause: RejectCause | null,
  commandId: CommandId
): StepBuilder.StepBuilder => {
  const { state } = builder
  const of = { commandId, callId: state.id, legId: leg.id }
  return StepBuilder.sendPending(
    builder,
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
