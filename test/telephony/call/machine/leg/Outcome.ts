import type { EmittedByCall } from "../../../../../src/domain/event/EventCatalogue.ts"
import type * as Id from "../../../../../src/domain/Id.ts"

/** An accepted request that connects legs; for a refer the leg is the call's own. */
export interface Asked {
  readonly verb: "transfer" | "bridge" | "refer"
  readonly legId: Id.LegId
}

/** Whether this event reports the outcome of the request. */
export const isOf = ({ legId, verb }: Asked, event: EmittedByCall): boolean => {
  switch (event.type) {
    case "call.bridged":
      return verb !== "refer" && event.data.bridgedLegId === legId
    case "call.transfer_failed":
      return verb === "transfer" && event.data.legId === legId
    case "call.bridge_failed":
      return verb === "bridge" && event.data.bridgedLegId === legId
    case "call.refer_completed":
    case "call.refer_failed":
      return verb === "refer"
    default:
      return false
  }
}
