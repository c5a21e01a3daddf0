import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"

/** The discount of a tenant on the deck for all, in hundredths of a percent. */
export interface Discount {
  readonly tenantId: TenantId
  readonly hundredths: number
}

/** The whole price, in hundredths of a percent. */
const whole = 10_000

/** The discounts of tenants, guide/operation.md#rates-and-dialing-permissions. They are in memory. */
export const make = Effect.gen(function* () {
  const { all: rows, done, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const read = rows<Discount>`SELECT tenant_id, hundredths FROM rate_discount ORDER BY tenant_id`
  const held = new Map((yield* read).map(({ hundredths, tenantId }) => [tenantId, hundredths]))

  return {
    /** 0: the tenant has none. */
    of: (tenantId: TenantId): number => held.get(tenantId) ?? 0,
    all: read,
    /** Holds from the next call on; 0 removes it. */
    set: Effect.fnUntraced(function* (tenantId: TenantId, hundredths: number) {
      if (!Number.isInteger(hundredths) || hundredths < 0 || hundredths > whole)
        return yield* ApiError.of("invalid_request", "the discount must be 0 to 100 percent, with two decimals at most")
      const line = Audit.line({
        tenantId,
        at: yield* Clock.currentTimeMillis,
        seed: entropy.hex(16),
        actor: yield* Audit.operator,
        action: "discount.changed",
        resourceId: tenantId,
        changes: [{ field: "hundredths_of_percent", from: held.get(tenantId) ?? 0, to: hundredths }]
      })
      yield* Effect.andThen(
        hundredths === 0
          ? done`DELETE FROM rate_discount WHERE tenant_id = ${tenantId}`
          : done`
              INSERT INTO rate_discount (tenant_id, hundredths) VALUES (${tenantId}, ${hundredths})
              ON CONFLICT (tenant_id) DO UPDATE SET hundredths = excluded.hundredths`,
        journal.commitWithin({ ...empty, audit: [line] })
      ).pipe(transaction)
      if (hundredths === 0) held.delete(tenantId)
      else held.set(tenantId, hundredths)
    })
  } as const
})
