import { Effect } from "effect"
import type { TenantId } from "../../../domain/Id.ts"
import { Tenants } from "../../../tenancy/tenant/Tenant.ts"
import * as Flag from "../command/Flag.ts"

export const Reference = Flag.text(200)

/** A tenant as operators name it. */
export const argument = Flag.argument("id|slug", Reference, "the tenant: its id or its slug")
export const required = Flag.of(Reference, "the tenant: its id or its slug", { value: "ID|SLUG" })
export const optional = Flag.optional(Reference, "only for this tenant: its id or its slug", { value: "ID|SLUG" })

export const idOf = (reference: string) =>
  Tenants.use((tenants) => Effect.map(tenants.findByReference(reference), ({ id }) => id))

/** Runs a command for the tenant that it names. */
export const within =
  <Input extends { readonly tenant: string }, A, E, R>(
    run: (tenantId: TenantId, input: Omit<Input, "tenant">) => Effect.Effect<A, E, R>
  ) =>
  ({ tenant, ...input }: Input) =>
    Effect.flatMap(idOf(tenant), (id) => run(id, input))

/** Null without a reference, for commands that work on one tenant or on all. */
export const idOrNull = (reference: string | undefined) =>
  reference === undefined ? Effect.succeed(null) : idOf(reference)
