import { Effect } from "effect"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Sql from "../../runtime/store/Sql.ts"

/**
 * Which address has an account, guide/tenants.md#signup: one of a member, unless the member's workspace is closed. A
 * unique index holds it, of the addresses that were not released.
 */
export const make = Effect.map(Sql.make, ({ done, some }) => ({
  isUsed: (email: string) =>
    some`
      SELECT FROM member m JOIN tenant t ON t.id = m.tenant_id AND t.status <> 'closed'
      WHERE m.email = ${email} AND m.address_released_at IS NULL LIMIT 1`,

  /** Takes an address from the member of a closed workspace, in the transaction that inserts another member with it. */
  release: (email: string, at: number) =>
    done`
      UPDATE member m SET address_released_at = ${timestamptz(at)} FROM tenant t
      WHERE t.id = m.tenant_id AND t.status = 'closed' AND m.email = ${email} AND m.address_released_at IS NULL`
}))
