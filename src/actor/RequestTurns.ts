import { Context } from "effect"
import * as FairPlaces from "./FairPlaces.ts"

/** Requests of the API that are served at once, and those that may wait for their turn. */
const places = { places: 128, room: 4_096, patienceMs: 5_000 }

/** Turns of the tenants whose requests the API serves. */
export const RequestTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairPlaces.make(places)
})
