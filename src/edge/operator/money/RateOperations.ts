import { Clock, Effect, Result, Schema } from "effect"
import { Billing, RateDecks } from "../../../money/billing/Billing.ts"
import * as WorkPrice from "../../../domain/WorkPrice.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Operation from "../door/Operation.ts"
import * as RateCsvTable from "./RateCsvTable.ts"

/** Rows that a difference shows. */
const shownRows = 1_000

const file = { csv: Schema.String, effective: Schema.optionalKey(Operation.Moment) }

const ratesOf = (csv: string) => {
  const rates = RateCsvTable.read(csv)
  return Result.isFailure(rates)
    ? Effect.fail(ApiError.of("invalid_request", rates.failure))
    : Effect.succeed(rates.success)
}

/** `rates import`, `diff`, `list`, `history`, `cancel`, `prices set`, `prices list`, guide/operation.md#rates-and-dialing-permissions. */
export const make = Effect.gen(function* () {
  const billing = yield* Billing
  return [
    Operation.make(
      "rates/import",
      Schema.Struct({ ...file, dry_run: Schema.optionalKey(Schema.Boolean) }),
      Effect.fnUntraced(function* ({ csv, dry_run = false, effective = null }) {
        const rates = yield* ratesOf(csv)
        if (dry_run)
          return { rates: rates.length, changed_rows: (yield* billing.rateDifference(rates, effective)).length }
        yield* billing.setRates(rates, effective)
        yield* Effect.logInfo("rate deck replaced by the operator", { rates: rates.length, effective })
        return { rates: rates.length }
      })
    ),
    Operation.make(
      "rates/diff",
      Schema.Struct(file),
      Effect.fnUntraced(function* ({ csv, effective = null }) {
        const changed = yield* billing.rateDifference(yield* ratesOf(csv), effective)
        return { changed_rows: changed.length, results: changed.slice(0, shownRows) }
      })
    ),
    Operation.make(
      "rates/history",
      Operation.Nothing,
      Effect.fnUntraced(function* () {
        const now = yield* Clock.currentTimeMillis
        const decks = yield* billing.decks
        const current = RateDecks.holding(decks, now)
        return {
          results: decks.toReversed().map((deck) => ({
            deck: deck.id,
            status: deck === current ? "holds" : deck.effectiveAt > now ? "scheduled" : "past",
            effective_at: Timestamp.format(deck.effectiveAt),
            imported_at: Timestamp.format(deck.importedAt),
            rows: deck.rows
          }))
        }
      })
    ),
    Operation.make("rates/cancel", Schema.Struct({ deck: Schema.Int }), ({ deck }) =>
      Effect.as(billing.cancelRates(deck), { deck, cancelled: true })
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
    Operation.make("rates/list", Schema.Struct({ deck: Schema.optionalKey(Schema.Int) }), ({ deck }) =>
      Effect.map(deck === undefined ? billing.rates : billing.ratesOf(deck), (rates) => ({
        results: rates.map(({ direction, microUsdPerMinute, prefix }) => ({
          direction,
          prefix,
          micro_usd_per_minute: microUsdPerMinute
        }))
      }))
    )
  ]
})
