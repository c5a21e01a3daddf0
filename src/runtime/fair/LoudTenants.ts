import { Context } from "effect"
import * as Loudest from "../../domain/fair/Loudest.ts"

/** Which tenants the API works for most: requests and the milliseconds that they took in their turns. */
export const LoudTenants = Context.Reference<Loudest.Loudest>("trunkline/actor/LoudTenants", {
  defaultValue: () => Loudest.make()
})
