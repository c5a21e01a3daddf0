import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AddressId, TenantId } from "../../../domain/Id.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import * as EmergencyAddressView from "./EmergencyAddressView.ts"

/** Rows of `emergency_address`. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader
  const columns = sql`id, name, street_address, extended_address, locality, administrative_area, postal_code,
    country_code, customer_reference, created_at`

  return {
    /** The number of the tenant's addresses, up to `limit`. None can be added until the transaction ends. */
    countForInsert: (tenantId: TenantId, limit: number) =>
      Effect.andThen(
        sql`SELECT FROM tenant WHERE id = ${tenantId} FOR NO KEY UPDATE`,
        Effect.map(
          sql<{ readonly count: number }>`
            SELECT count(*) AS count FROM
              (SELECT FROM emergency_address WHERE tenant_id = ${tenantId} LIMIT ${limit}) AS counted`,
          ([row]) => row?.count ?? 0
        )
      ).pipe(Effect.orDie),

    insert: (tenantId: TenantId, row: EmergencyAddressView.AddressRow) =>
      Effect.orDie(sql`
        INSERT INTO emergency_address (id, tenant_id, name, street_address, extended_address, locality,
          administrative_area, postal_code, country_code, customer_reference, created_at)
        VALUES (${row.id}, ${tenantId}, ${row.name}, ${row.streetAddress}, ${row.extendedAddress}, ${row.locality},
          ${row.administrativeArea}, ${row.postalCode}, ${row.countryCode}, ${row.customerReference},
          ${timestamptz(row.createdAt)})`),

    find: (tenantId: TenantId, id: AddressId) =>
      Effect.map(
        Effect.orDie(sql<EmergencyAddressView.AddressRow>`
          SELECT ${columns} FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id}`),
        (rows) => rows[0] ?? null
      ),

    list: (tenantId: TenantId, window: Listing.Window) =>
      Effect.orDie(
        read({
          tenantId,
          columns,
          from: sql`emergency_address`,
          where: sql`tenant_id = ${tenantId}`,
          order: Listing.byTime(sql, "created_at"),
          window,
          item: EmergencyAddressView.address
        })
      ),

    /** Whether the tenant has the address, which then stays until the transaction ends. */
    hold: (tenantId: TenantId, id: AddressId) =>
      Effect.map(
        Effect.orDie(sql`
          SELECT FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id} FOR KEY SHARE`),
        (rows) => rows.length === 1
      ),

    /** Locks the address until the transaction ends; null when there is none. `usedBy` is a number that has it. */
    lock: (tenantId: TenantId, id: AddressId) =>
      Effect.gen(function* () {
        const rows = yield* sql`
          SELECT FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`
        if (rows.length === 0) return null
        const [used] = yield* sql<{ readonly phone: string }>`
          SELECT phone_number AS phone FROM phone_number WHERE emergency_address_id = ${id} LIMIT 1`
        return { usedBy: used?.phone ?? null }
      }).pipe(Effect.orDie),

    remove: (id: AddressId) => Effect.orDie(sql`DELETE FROM emergency_address WHERE id = ${id}`)
  }
})

export type EmergencyAddressRepo = Effect.Success<typeof make>
