import * as Money from "../../../domain/Money.ts"
import type { Carried, CarriedLeg } from "../../../runtime/store/usage/TrunkLeg.ts"
import type { CallState } from "../machine/CallState.ts"
import type { Leg } from "../machine/leg/Leg.ts"

/** The part of a call's state from which its trunk traffic is computed. */
export interface Metered extends Pick<CallState, "routeId" | "meters"> {
  readonly legs: ReadonlyArray<Pick<Leg, "id" | "to">>
}

/**
 * The traffic of an ended call on a trunk, guide/operation.md#costs-and-margin: the time of each answered leg, also
 * beyond what was reserved and charged. Null: nothing.
 */
export const of = ({ costCents, legs, meters, routeId }: Metered & Pick<CallState, "costCents">): Carried | null => {
  const carried = meters.flatMap(({ direction, endedAt, kind, legId, startedAt }): ReadonlyArray<CarriedLeg> => {
    if (kind !== "leg" || startedAt === null || endedAt === null) return []
    const seconds = Math.ceil((endedAt - startedAt) / 1_000)
    const minutes = Money.startedMinutes(endedAt - startedAt)
    const number = legs.find(({ id }) => id === legId)?.to ?? null
    return minutes === 0 ? [] : [{ direction, digits: digitsOf(number), started_at: startedAt, minutes, seconds }]
  })
  return carried.length === 0 ? null : { route_id: routeId, debited_cents: costCents ?? 0, legs: carried }
}

/** A prefix of a deck has at most 15 digits (ITU-T E.164), so no digits after those matter. */
const digitsOf = (number: string | null): string | null =>
  number === null ? null : (/^\+?([0-9]{0,15})/.exec(number)?.[1] ?? "")
