import { Effect, Result, Schema } from "effect"
import { E164 } from "../../../domain/E164.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { AddressId, TenantId } from "../../../domain/Id.ts"
import { Numbers, type OfTenant } from "../../../numbers/number/Number.ts"
import * as NumberCsvTable from "./NumberCsvTable.ts"
import * as Operation from "../door/Operation.ts"

const withReason = {
  phone_number: E164,
  reason: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
}

const shown = <E>(of: Effect.Effect<OfTenant, E>) =>
  Effect.map(of, ({ number, tenantId }) => ({ tenant_id: tenantId, ...number }))

const addressOf = (numbers: Numbers["Service"], tenantId: TenantId, id: AddressId) =>
  Effect.map(numbers.findAddress(tenantId, id), (address) => ({ emergency_address: address }))

/** `number …` and `numbers …`, guide/operation.md#keys-and-numbers. */
export const make = Effect.map(Numbers, (numbers) => [
  Operation.make(
    "number/show",
    Schema.Struct({ phone_number: E164 }),
    Effect.fnUntraced(function* ({ phone_number: phoneNumber }) {
      const owner = yield* numbers.byDialled(phoneNumber)
      if (owner === null) return yield* ApiError.of("number_not_found", "nobody has this number")
      const number = yield* numbers.find(owner.tenantId, owner.numberId)
      const { emergency_address_id: id } = number
      return {
        tenant_id: owner.tenantId,
        ...number,
        ...(id === null ? {} : yield* addressOf(numbers, owner.tenantId, id))
      }
    })
  ),
  Operation.make(
    "number/release",
    Schema.Struct({ ...withReason, is_held: Schema.optionalKey(Schema.Boolean) }),
    ({ is_held: isHeld = true, phone_number: phoneNumber, reason }) =>
      shown(numbers.take(phoneNumber, reason ?? null, isHeld))
  ),
  ...(["ported-out", "suspend", "resume"] as const).map((name) =>
    Operation.make(`number/${name}`, Schema.Struct(withReason), ({ phone_number: phoneNumber, reason }) => {
      const doors = { "ported-out": numbers.portOut, suspend: numbers.suspend, resume: numbers.resume }
      return shown(doors[name](phoneNumber, reason ?? null))
    })
  ),
  Operation.make(
    "number/price",
    Schema.Struct({ phone_number: E164, monthly_cost_cents: NumberCsvTable.Price }),
    ({ monthly_cost_cents: cents, phone_number: phoneNumber }) => shown(numbers.setMonthlyCost(phoneNumber, cents))
  ),
  Operation.make(
    "number/emergency",
    Schema.Struct({ phone_number: E164, is_enabled: Schema.Boolean }),
    Effect.fnUntraced(function* ({ is_enabled: isEnabled, phone_number: phoneNumber }) {
      const { number, tenantId } = yield* numbers.setEmergencyEnabled(phoneNumber, isEnabled)
      const { emergency_address_id: id } = number
      return { tenant_id: tenantId, ...number, ...(id === null ? {} : yield* addressOf(numbers, tenantId, id)) }
    })
  ),
  Operation.make(
    "numbers/withdraw",
    Schema.Struct({ phone_numbers: Schema.Array(E164).check(Schema.isMinLength(1), Schema.isMaxLength(1_000)) }),
    Effect.fnUntraced(function* ({ phone_numbers: phoneNumbers }) {
      return { withdrawn: yield* numbers.withdrawInventory(phoneNumbers) }
    })
  ),
  Operation.make(
    "numbers/import",
    Schema.Struct({ csv: Schema.String }),
    Effect.fnUntraced(function* ({ csv }) {
      const entries = NumberCsvTable.read(csv)
      if (Result.isFailure(entries)) return yield* ApiError.of("invalid_request", entries.failure)
      yield* numbers.importInventory(entries.success)
      yield* Effect.logInfo("numbers imported by the operator", { numbers: entries.success.length })
      return { numbers: entries.success.length }
    })
  )
])
