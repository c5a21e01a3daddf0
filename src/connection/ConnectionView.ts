import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import type { RouteId, TenantId } from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"

/** A connection as its tenant sees it: never the adapter or its configuration. */
export const Connection = Schema.Struct({
  id: Field.id("route", "What `route_id` and `connection_id` name."),
  name: Field.text("As the operator gave it.", "Main trunk"),
  is_default: Field.flag("Takes the calls that name no route.", true),
  status: Field.oneOf("A disabled connection takes no calls.", ["active", "disabled"]),
  created_at: Field.moment("When it was added.")
}).annotate({ identifier: "Connection" })
export type ConnectionView = typeof Connection.Type

/** `createdAt` in epoch milliseconds; `password` sealed. */
export interface RouteRow {
  readonly id: RouteId
  readonly tenantId: TenantId
  readonly name: string
  readonly isDefault: boolean
  readonly status: "active" | "disabled"
  readonly adapter: string
  readonly host: string | null
  readonly port: number | null
  readonly username: string | null
  readonly password: string | null
  readonly createdAt: number
}

export const view = (row: RouteRow): ConnectionView => ({
  id: row.id,
  name: row.name,
  is_default: row.isDefault,
  status: row.status,
  created_at: Timestamp.format(row.createdAt)
})
