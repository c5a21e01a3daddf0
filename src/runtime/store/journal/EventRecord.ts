import * as EventLane from "../../../domain/event/EventLane.ts"
import * as Envelope from "../../../domain/event/Envelope.ts"
import type { PublicEvent } from "../../../domain/event/EventCatalogue.ts"
import * as Id from "../../../domain/Id.ts"
import type { EventRow } from "./Journal.ts"

/**
 * The row of a public event: its id follows from time, entity and sequence; its body is the envelope, rendered once.
 */
export const make = (
  of: {
    readonly tenantId: Id.TenantId
    readonly entityId: Id.EntityId
    /** Null: the event is only for subscriptions of the whole tenant. */
    readonly routeId: Id.RouteId | null
    readonly occurredAt: number
  },
  sequence: number,
  event: PublicEvent
): EventRow => {
  const id = Id.deriveTimeUuid(of.occurredAt, of.entityId, "event", sequence)
  return {
    ...of,
    id,
    lane: EventLane.of(of.entityId, event),
    sequence,
    type: event.type,
    body: Envelope.render(event, { eventId: id, occurredAt: of.occurredAt, sequence })
  }
}
