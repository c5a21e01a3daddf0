import * as Id from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"
import type { EventRow } from "./Journal.ts"

/**
 * A public event as its row: the id follows from entity and sequence, the body is the envelope of spec §6.1 with the
 * additive `sequence` (decision D14), rendered once.
 */
export const make = (
  of: {
    readonly tenantId: string
    readonly entityId: string
    /** Null: for subscriptions of the whole tenant only (decision C24). */
    readonly routeId: string | null
    readonly occurredAt: number
  },
  sequence: number,
  event: { readonly type: string; readonly data: unknown }
): EventRow => {
  const id = Id.deriveUuid(of.entityId, "event", sequence)
  return {
    ...of,
    id,
    sequence,
    type: event.type,
    body: JSON.stringify({
      event_id: id,
      event_type: event.type,
      occurred_at: Timestamp.format(of.occurredAt),
      sequence,
      data: event.data
    })
  }
}
