import { Effect } from "effect"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Flag from "../command/Flag.ts"

export const Reference = Flag.text(200)

/** A tenant as operators name it. */
export const argument = Flag.argument("id|slug", Reference, "the tenant: its id or its slug")
export const required = Flag.of(Reference, "the tenant: its id or its slug", { value: "ID|SLUG" })
export const optional = Flag.optional(Reference, "only for this tenant: its id or its slug", { value: "ID|SLUG" })

export const idOf = (reference: string) =>
  Effect.flatMap(Tenants, (tenants) => Effect.map(tenants.findByReference(reference), ({ id }) => id))

/** Null without a reference, for commands that work on one tenant or on all. */
export const idOrNull = (reference: string | undefined) =>
  reference === undefined ? Effect.succeed(null) : idOf(reference)
