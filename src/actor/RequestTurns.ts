import { Context } from "effect"
import * as FairPlaces from "./FairPlaces.ts"

/**
 * Requests of the API that are served at once, and those that may wait for their turn. A request may be long (a list
 * waits for its own turn), so one tenant has 129 places alone, and others find some.
 */
const places = { places: 256, room: 4_096, patienceMs: 5_000, sparesPlaces: true }

/** Turns of the tenants whose requests the API serves. */
export const RequestTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairPlaces.make(places)
})
