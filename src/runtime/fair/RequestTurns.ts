import { Context } from "effect"
import * as FairPlaces from "./FairPlaces.ts"

/**
 * Requests that read which are served at once, and those that may wait for their turn. One may be long (a list waits for
 * its own turn), so one tenant has 129 places alone, and others find some.
 */
const reading = { places: 256, room: 4_096, patienceMs: 5_000, sparesPlaces: true }

/**
 * Requests that change something are short, and what is under way goes through the thread and the journal together. So
 * many at once are done with less work each, and each of them waits for all. A tenant that is alone has 129 places; while
 * there are others, it has 2, and rests while the thread is busy.
 */
const changing = {
  places: 256,
  room: 4_096,
  patienceMs: 5_000,
  sparesPlaces: true,
  shared: { each: 2, withinMs: 60_000 }
}

/** Turns of the tenants whose requests the API serves: GET. */
export const RequestTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairPlaces.make(reading)
})

/** The same for all other requests. */
export const CommandTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/CommandTurns", {
  defaultValue: () => FairPlaces.make(changing)
})

/**
 * Long bodies that are in memory at once, from their first byte to their answer, so they are few; a tenant alone has 5
 * places, and others find some. One waits for its turn as long as it may take, and some time is left to read it: the
 * server gives up a request that is not here whole 30 seconds after its first byte (`edge/http/Server.ts`).
 */
const longBodies = { places: 8, room: 256, patienceMs: 20_000, sparesPlaces: true }

/** Turns of requests whose body may be long (`edge/http/request/RequestBody.ts`). */
export const BodyTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/BodyTurns", {
  defaultValue: () => FairPlaces.make(longBodies)
})
