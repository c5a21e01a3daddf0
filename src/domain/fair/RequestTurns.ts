import { Context } from "effect"
import * as FairSemaphore from "./FairSemaphore.ts"
import * as Loudest from "./Loudest.ts"
import * as Policies from "./Policies.ts"

/** The turns of tenants for GET requests of the API. */
export const RequestTurns = Context.Reference<FairSemaphore.FairSemaphore>("trunkline/actor/RequestTurns", {
  defaultValue: () => FairSemaphore.make(Policies.reading)
})

/** The turns of tenants for all other requests of the API. */
export const CommandTurns = Context.Reference<FairSemaphore.FairSemaphore>("trunkline/actor/CommandTurns", {
  defaultValue: () => FairSemaphore.make(Policies.changing)
})

/** Turns of requests whose body may be long (`edge/http/request/RequestBody.ts`). */
export const BodyTurns = Context.Reference<FairSemaphore.FairSemaphore>("trunkline/actor/BodyTurns", {
  defaultValue: () => FairSemaphore.make(Policies.longBodies)
})

/** The tenants for which the API works most, by requests and by the milliseconds that they took in their turns. */
export const LoudTenants = Context.Reference<Loudest.Loudest>("trunkline/actor/LoudTenants", {
  defaultValue: () => Loudest.make()
})
