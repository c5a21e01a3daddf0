import { Effect } from "effect"
import type { AddressId, TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import * as EmergencyAddressView from "./EmergencyAddressView.ts"

/** Rows of `emergency_address`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { done, first, some, sql } = yield* Sql.make
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
      done`
        INSERT INTO emergency_address (id, tenant_id, name, street_address, extended_address, locality,
          administrative_area, postal_code, country_code, customer_reference, created_at)
        VALUES (${row.id}, ${tenantId}, ${row.name}, ${row.streetAddress}, ${row.extendedAddress}, ${row.locality},
          ${row.administrativeArea}, ${row.postalCode}, ${row.countryCode}, ${row.customerReference},
          ${timestamptz(row.createdAt)})`,

    find: (tenantId: TenantId, id: AddressId) =>
      first<EmergencyAddressView.AddressRow>`
        SELECT ${columns} FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id}`,

    list: (tenantId: TenantId, window: Listing.Window) =>
      read({
        tenantId,
        columns,
        from: "emergency_address",
        window,
        item: EmergencyAddressView.address
      }),

    /** Whether the tenant has the address, which then stays until the transaction ends. */
    hold: (tenantId: TenantId, id: AddressId) =>
      some`SELECT FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id} FOR KEY SHARE`,

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

    remove: (id: AddressId) => done`DELETE FROM emergency_address WHERE id = ${id}`
  }
})

export type EmergencyAddressRepo = Effect.Success<typeof make>
