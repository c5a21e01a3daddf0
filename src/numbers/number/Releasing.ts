import { Effect } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import type { Inventory } from "./order/Inventory.ts"
import * as NumberChange from "./NumberChange.ts"
import type { PhoneNumberView } from "./NumberView.ts"

/** A number after an operation of the operator. */
export interface OfTenant {
  readonly tenantId: Id.TenantId
  readonly number: PhoneNumberView
}

/** Releases and suspends numbers (guide/numbers.md#releasing), for the tenant or the operator. Live calls continue. */
export const make = ({ changing, changingPhone }: NumberChange.NumberChange, inventory: Inventory) => {
  const byOperator =
    (input: Parameters<typeof NumberChange.living>[1], action: string) =>
    (phoneNumber: string, reason: string | null): Effect.Effect<OfTenant, ApiError> =>
      changingPhone(phoneNumber, (row, at) => NumberChange.living(row, input, at, action, reason))

  return {
    release: Effect.fn("Numbers.release")(function* (caller: Audit.Caller, id: Id.NumberId, slot: Slot | null) {
      const done: Rendered = { status: 204, body: null }
      yield* changing(
        { tenantId: caller.tenantId, id },
        Audit.byCaller(caller),
        (row, at) => NumberChange.living(row, { type: "released", by: "tenant", isHeld: true }, at, "number.released"),
        { slot, render: () => done }
      )
      return done
    }),
    take: (phoneNumber: string, reason: string | null, isHeld: boolean) =>
      byOperator({ type: "released", by: "operator", isHeld }, "number.released")(phoneNumber, reason),
    /** The number belongs to another carrier now, so it can no longer be ordered. */
    portOut: (phoneNumber: string, reason: string | null): Effect.Effect<OfTenant, ApiError> =>
      changingPhone(phoneNumber, (row, at) =>
        Effect.tap(NumberChange.living(row, { type: "ported_out" }, at, "number.ported_out", reason), () =>
          inventory.remove([phoneNumber])
        )
      ),
    suspend: byOperator({ type: "suspended" }, "number.suspended"),
    resume: byOperator({ type: "resumed" }, "number.resumed"),
    setMonthlyCost: (phoneNumber: string, cents: number): Effect.Effect<OfTenant, ApiError> =>
      changingPhone(phoneNumber, (row) => {
        const after = { ...row, monthlyCostCents: cents }
        const changes = NumberChange.changesOf(row, after)
        return Effect.succeed(changes.length === 0 ? null : { row: after, action: "number.price_changed", changes })
      }),
    setEmergencyEnabled: (phoneNumber: string, isEnabled: boolean): Effect.Effect<OfTenant, ApiError> =>
      changingPhone(phoneNumber, (row) => {
        if (isEnabled && row.emergencyAddressId === null) return Effect.fail(NumberChange.noAnchor)
        const after = { ...row, emergencyEnabled: isEnabled }
        const changes = NumberChange.changesOf(row, after)
        const action = isEnabled ? "number.emergency_enabled" : "number.emergency_disabled"
        return Effect.succeed(changes.length === 0 ? null : { row: after, action, changes })
      })
  } as const
}
