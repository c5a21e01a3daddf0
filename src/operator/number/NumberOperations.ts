import { Effect, Result, Schema } from "effect"
import { E164 } from "../../domain/E164.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { Numbers } from "../../number/Number.ts"
import * as NumberCsvTable from "./NumberCsvTable.ts"
import * as Operation from "../Operation.ts"

/** `numbers import`, `number show`, `number release`, guide/operation.md#keys-and-numbers. */
export const make = Effect.map(Numbers, (numbers) => [
  Operation.make(
    "number/show",
    Schema.Struct({ phone_number: E164 }),
    Effect.fnUntraced(function* ({ phone_number: phoneNumber }) {
      const owner = yield* numbers.byDialled(phoneNumber)
      if (owner === null) return yield* ApiError.of("number_not_found", "nobody has this number")
      return { tenant_id: owner.tenantId, ...(yield* numbers.find(owner.tenantId, owner.numberId)) }
    })
  ),
  Operation.make(
    "number/release",
    Schema.Struct({
      phone_number: E164,
      reason: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
    }),
    ({ phone_number: phoneNumber, reason }) =>
      Effect.map(numbers.release(phoneNumber, reason ?? null), ({ number, tenantId }) => ({
        tenant_id: tenantId,
        ...number
      }))
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
