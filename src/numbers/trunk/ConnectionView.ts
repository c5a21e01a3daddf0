import { Option, Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as TrunkNumberPlan from "../../carrier/number/TrunkNumberPlan.ts"

/** A connection as its tenant sees it, without the adapter and its configuration. */
export const Connection = Wire.struct({
  id: Field.id("route", "What `route_id` and `connection_id` name."),
  name: Field.text("As the operator gave it.", "Main trunk"),
  isDefault: Field.flag("Takes the calls that name no route.", true),
  status: Field.oneOf("A disabled connection takes no calls.", ["active", "disabled"]),
  createdAt: Field.time("When it was added.")
}).pipe(Schema.annotateEncoded({ identifier: "Connection" }))
export type ConnectionView = typeof Connection.Encoded

/** The operator's settings of a trunk; null where the operator set nothing (`limitsOf`). */
export interface TrunkSettings {
  /** The most calls at once, in both directions together. */
  readonly maxCalls: number | null
  /** New calls a second that we place; `inboundCps` limits those that the trunk places. */
  readonly outboundCps: number | null
  readonly inboundCps: number | null
  /** Whether OPTIONS requests check that the trunk answers. */
  readonly isQualified: boolean
  /** Whether calls by the trunk are refused while it does not answer, instead of attempted. */
  readonly refusesUnreachable: boolean
}

/** The settings of a route that the operator has not changed. */
export const defaultSettings: TrunkSettings = {
  maxCalls: null,
  outboundCps: null,
  inboundCps: null,
  isQualified: true,
  refusesUnreachable: false
}

/** `createdAt` is in epoch milliseconds, `password` is sealed. */
export interface RouteRow extends Readonly<typeof Connection.Type>, TrunkSettings {
  readonly tenantId: TenantId
  readonly adapter: string
  readonly host: string | null
  readonly port: number | null
  readonly username: string | null
  readonly password: string | null
  /** As it is stored, because a later version may have written it; `planOf` reads it. */
  readonly numberPlan: unknown
}

const decodePlan = Schema.decodeUnknownOption(TrunkNumberPlan.TrunkNumberPlan)

/**
 * The number plan of a route; null when it has none. A stored field that cannot be read counts as unset, so that a
 * version that lacks a field of a later one still takes calls.
 */
export const planOf = ({ numberPlan }: Pick<RouteRow, "numberPlan">): TrunkNumberPlan.TrunkNumberPlan | null => {
  if (typeof numberPlan !== "object" || numberPlan === null) return null
  return Option.getOrElse(decodePlan({ ...TrunkNumberPlan.none, ...numberPlan }), () => TrunkNumberPlan.none)
}

/**
 * The limits under which a call is let in. Where the operator set none, calls that a trunk places get these limits,
 * because nothing else bounds a trunk that loops or is broken into. Calls that we place have the limit of their tenant.
 */
export const limitsOf = (row: RouteRow, direction: "inbound" | "outbound"): TrunkSettings =>
  row.adapter === "sip" && direction === "inbound"
    ? { ...row, maxCalls: row.maxCalls ?? 1_000, inboundCps: row.inboundCps ?? 100 }
    : row

export const view = Wire.encoder(Connection)
