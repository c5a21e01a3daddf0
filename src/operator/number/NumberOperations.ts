import { Effect, Result, Schema } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import { Numbers } from "../../number/Number.ts"
import * as NumberCsvTable from "./NumberCsvTable.ts"
import * as Operation from "../Operation.ts"

/** `numbers import`. */
export const make = Effect.map(Numbers, (numbers) => [
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
