import { Context } from "effect"
import * as FairPlaces from "./FairPlaces.ts"

/**
 * Limits of requests that read: how many are served at once, and how many may wait. One may take long (a list waits for
 * a turn of its own), so a tenant alone has 129 places, and others find free ones.
 */
const reading = { places: 256, room: 4_096, patienceMs: 5_000, sparesPlaces: true }

/**
 * Limits of requests that change something. They are short, and those under way share the work of the thread and of the
 * journal: many at once cost less each, but each waits for all. A tenant alone has 129 places. While there are others,
 * it has 2, and rests while the thread is busy.
 */
const changing = {
  places: 256,
  room: 4_096,
  patienceMs: 5_000,
  sparesPlaces: true,
  shared: { each: 2, withinMs: 60_000 }
}

/** The turns of tenants for GET requests of the API. */
export const RequestTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairPlaces.make(reading)
})

/** The turns of tenants for all other requests of the API. */
export const CommandTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/CommandTurns", {
  defaultValue: () => FairPlaces.make(changing)
})

/**
 * Limits of requests with long bodies. There are few places because each body is in memory from its first byte to the
 * answer; a tenant alone has 5, and others find free ones. The wait for a turn is as long as possible, with some time
 * left to read the body: the server gives up a request that is not complete 30 seconds after its first byte
 * (`edge/http/Server.ts`).
 */
const longBodies = { places: 8, room: 256, patienceMs: 20_000, sparesPlaces: true }

/** Turns of requests whose body may be long (`edge/http/request/RequestBody.ts`). */
export const BodyTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/actor/BodyTurns", {
  defaultValue: () => FairPlaces.make(longBodies)
})
