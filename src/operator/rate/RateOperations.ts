import { Effect, Result, Schema } from "effect"
import { Billing } from "../../billing/Billing.ts"
import * as WorkPrice from "../../domain/WorkPrice.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Operation from "../Operation.ts"
import * as RateCsvTable from "./RateCsvTable.ts"

/** `rates import`, `rates list`, `prices set`, `prices list`, guide/operation.md#rates-and-dialing-permissions. */
export const make = Effect.gen(function* () {
  const billing = yield* Billing
  return [
    Operation.make(
      "rates/import",
      Schema.Struct({ csv: Schema.String }),
      Effect.fnUntraced(function* ({ csv }) {
        const rates = RateCsvTable.read(csv)
        if (Result.isFailure(rates)) return yield* ApiError.of("invalid_request", rates.failure)
        yield* billing.setRates(rates.success)
        yield* Effect.logInfo("rate deck replaced by the operator", { rates: rates.success.length })
        return { rates: rates.success.length }
      })
    ),
    Operation.make(
      "prices/set",
      Schema.Struct({ kind: Schema.Literals(WorkPrice.priced), micro_usd: Schema.Int }),
      ({ kind, micro_usd }) => Effect.as(billing.setPrice(kind, micro_usd), { kind, micro_usd })
    ),
    Operation.make("prices/list", Operation.Nothing, () =>
      Effect.map(Effect.all([billing.prices, billing.lookupPrice]), ([prices, lookup]) => ({
        results: Object.entries({ ...prices, lookup }).map(([kind, micro_usd]) => ({ kind, micro_usd }))
      }))
    ),
    Operation.make("rates/list", Operation.Nothing, () =>
      Effect.map(billing.rates, (rates) => ({
        results: rates.map(({ direction, microUsdPerMinute, prefix }) => ({
          direction,
          prefix,
          micro_usd_per_minute: microUsdPerMinute
        }))
      }))
    )
  ]
})
