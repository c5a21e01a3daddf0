import type { EntityId } from "../Id.ts"
import { catalogue, type PublicEvent } from "./EventCatalogue.ts"

/** The beginning of the names of lanes in which only the newest event is worth delivering. */
export const newestOnly = "newest:"

/**
 * The name of the lane in which an event is delivered: the events of a lane go to a receiver one at a time, in their
 * order, and those of different lanes beside each other. An event about a member of a conference is in the member's
 * lane. Events of which only the newest counts have a lane of their own, beside the other events of the member. Every
 * other event is in the lane of its entity.
 */
export const of = (entityId: EntityId, { data, type }: PublicEvent): string => {
  const owner = "memberId" in data ? data.memberId : entityId
  return catalogue[type].onlyNewest === true ? `${newestOnly}${owner}` : owner
}
