import { Context } from "effect"
import * as Loudest from "../../domain/fair/Loudest.ts"

/** The tenants for which the API works most, by requests and by the milliseconds that they took in their turns. */
export const LoudTenants = Context.Reference<Loudest.Loudest>("trunkline/actor/LoudTenants", {
  defaultValue: () => Loudest.make()
})
