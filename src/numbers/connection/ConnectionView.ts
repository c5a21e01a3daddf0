import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { TenantId } from "../../domain/Id.ts"

/** A connection as its tenant sees it: never the adapter or its configuration. */
export const Connection = Wire.struct({
  id: Field.id("route", "What `route_id` and `connection_id` name."),
  name: Field.text("As the operator gave it.", "Main trunk"),
  isDefault: Field.flag("Takes the calls that name no route.", true),
  status: Field.oneOf("A disabled connection takes no calls.", ["active", "disabled"]),
  createdAt: Field.time("When it was added.")
}).pipe(Schema.annotateEncoded({ identifier: "Connection" }))
export type ConnectionView = typeof Connection.Encoded

/** What the operator sets of a trunk; null: nothing (`limitsOf`). */
export interface TrunkSettings {
  /** Calls at once, in both directions. */
  readonly maxCalls: number | null
  /** New calls a second that we place, and that the trunk places. */
  readonly outboundCps: number | null
  readonly inboundCps: number | null
  /** It is asked by OPTIONS whether it is there. */
  readonly isQualified: boolean
  /** Calls by it are refused while it does not answer; otherwise they are tried. */
  readonly refusesUnreachable: boolean
}

/** Of a route that nobody has set anything of. */
export const defaultSettings: TrunkSettings = {
  maxCalls: null,
  outboundCps: null,
  inboundCps: null,
  isQualified: true,
  refusesUnreachable: false
}

/** `createdAt` in epoch milliseconds; `password` sealed. */
export interface RouteRow extends Readonly<typeof Connection.Type>, TrunkSettings {
  readonly tenantId: TenantId
  readonly adapter: string
  readonly host: string | null
  readonly port: number | null
  readonly username: string | null
  readonly password: string | null
}

/**
 * The limits under which a call is let in. Where the operator set none, calls that a trunk places have these: a trunk
 * that loops or is broken into has no other bound, and calls that we place have that of their tenant.
 */
export const limitsOf = (row: RouteRow, direction: "inbound" | "outbound"): TrunkSettings =>
  row.adapter === "sip" && direction === "inbound"
    ? { ...row, maxCalls: row.maxCalls ?? 1_000, inboundCps: row.inboundCps ?? 100 }
    : row

export const view = Wire.encoder(Connection)
