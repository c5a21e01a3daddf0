import { Effect } from "effect"
import type { AddressId, TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import * as EmergencyAddressView from "./EmergencyAddressView.ts"

/** Rows of `emergency_address`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { countForInsert, done, first, some, sql, value, values } = yield* Sql.make
  const read = yield* Listing.reader
  const columns = sql`id, name, street_address, extended_address, locality, administrative_area, postal_code,
    country_code, customer_reference, created_at`

  return {
    countForInsert: (tenantId: TenantId, limit: number) => countForInsert("emergency_address", tenantId, limit),

    insert: (tenantId: TenantId, row: EmergencyAddressView.AddressRow) =>
      done`INSERT INTO emergency_address ${values({ tenantId, ...row })}`,

    find: (tenantId: TenantId, id: AddressId) =>
      first<EmergencyAddressView.AddressRow>`
        SELECT ${columns} FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id}`,

    list: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns, from: "emergency_address", window, item: EmergencyAddressView.address }),

    /** Whether the tenant has the address, which then stays until the transaction ends. */
    hold: (tenantId: TenantId, id: AddressId) =>
      some`SELECT FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id} FOR KEY SHARE`,

    /** Locks the address until the transaction ends; null when there is none. `usedBy` is a number that has it. */
    lock: (tenantId: TenantId, id: AddressId) =>
      Effect.gen(function* () {
        if (!(yield* some`SELECT FROM emergency_address WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`))
          return null
        return {
          usedBy: yield* value<string>`SELECT phone_number FROM phone_number WHERE emergency_address_id = ${id} LIMIT 1`
        }
      }),

    remove: (id: AddressId) => done`DELETE FROM emergency_address WHERE id = ${id}`
  }
})

export type EmergencyAddressRepo = Effect.Success<typeof make>
