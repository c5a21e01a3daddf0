import { Context } from "effect"
import * as FairPlaces from "./FairPlaces.ts"

/**
 * Requests that read which are served at once, and those that may wait for their turn. One may be long (a list waits for
 * its own turn), so one tenant has 129 places alone, and others find some.
 */
const reading = { places: 256, room: 4_096, patienceMs: 5_000, sparesPlaces: true }

/**
 * Requests that change something are short, and cost the thread that all share. What is under way goes through it
 * together, and through the journal in one statement; so a few at once keep it as busy as many, and whoever comes waits
 * behind a few. One tenant has 9 places alone.
 */
const changing = { places: 16, room: 4_096, patienceMs: 5_000, sparesPlaces: true }

/** Turns of the tenants whose requests the API serves: GET. */
export const RequestTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairPlaces.make(reading)
})

/** The same for all other requests. */
export const CommandTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/CommandTurns", {
  defaultValue: () => FairPlaces.make(changing)
})
