import { Result, Schema } from "effect"
import { RouteId } from "../../../domain/Id.ts"
import * as Money from "../../../domain/Money.ts"
import type { StoredEntity } from "../../../runtime/store/journal/Journal.ts"
import type { Carried, CarriedLeg } from "../../../runtime/store/usage/TrunkLeg.ts"
import type { CallRow } from "./CallList.ts"
import type { CallState } from "../machine/CallState.ts"
import { Leg } from "../machine/leg/Leg.ts"
import { Meter } from "../machine/Meter.ts"
import * as Upgrade from "./Upgrade.ts"

/** The part of a call's state from which its trunk traffic is computed. */
export const Metered = Schema.Struct({
  routeId: RouteId,
  legs: Schema.Array(Schema.Struct({ id: Leg.fields.id, to: Leg.fields.to })),
  meters: Schema.Array(Meter)
})

/**
 * The traffic of an ended call on a trunk, guide/operation.md#costs-and-margin: each started minute of an answered leg,
 * also beyond what was reserved and charged. Null: nothing.
 */
export const of = ({
  costCents,
  legs,
  meters,
  routeId
}: typeof Metered.Type & Pick<CallState, "costCents">): Carried | null =>
  carriedOf(
    { routeId, costCents },
    meters.flatMap(({ direction, endedAt, kind, legId, startedAt }): ReadonlyArray<CarriedLeg> => {
      if (kind !== "leg" || startedAt === null || endedAt === null) return []
      const minutes = Money.startedMinutes(endedAt - startedAt)
      const number = legs.find(({ id }) => id === legId)?.to ?? null
      return minutes === 0 ? [] : [{ direction, digits: digitsOf(number), started_at: startedAt, minutes }]
    })
  )

/** The same from a row of the list of calls, for a call whose state cannot be read. */
export const ofRow = (row: Pick<CallRow, "routeId" | "costCents" | "direction" | "answeredAt">): Carried | null =>
  carriedOf(
    row,
    row.answeredAt === null ? [] : [{ direction: row.direction, digits: null, started_at: null, minutes: null }]
  )

/** The same for a state of any version; `stateVersion` null: the state is gone. */
export const ofStored = (
  { state, stateVersion }: Pick<StoredEntity, "state"> & { readonly stateVersion: number | null },
  row: CallRow
): Carried | null =>
  stateVersion === null
    ? ofRow(row)
    : Result.match(Schema.decodeUnknownResult(Metered)(Upgrade.shape({ state, stateVersion })), {
        onSuccess: (metered) => of({ ...metered, costCents: row.costCents }),
        onFailure: () => ofRow(row)
      })

const carriedOf = (
  { costCents, routeId }: Pick<CallState, "routeId" | "costCents">,
  legs: ReadonlyArray<CarriedLeg>
): Carried | null => (legs.length === 0 ? null : { route_id: routeId, debited_cents: costCents ?? 0, legs })

/** A prefix of a deck has at most 15 digits (ITU-T E.164), so no digits after those matter. */
const digitsOf = (number: string | null): string | null =>
  number === null ? null : (/^\+?([0-9]{0,15})/.exec(number)?.[1] ?? "")
