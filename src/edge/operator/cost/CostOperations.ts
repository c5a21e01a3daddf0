import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Margin from "./Margin.ts"
import * as TrunkCosts from "./TrunkCosts.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Period, Usages } from "../../../money/usage/Usage.ts"
import * as Operation from "../door/Operation.ts"
import * as RateCsvTable from "../money/RateCsvTable.ts"

/** `cost import`, `cost list`, `margin`, guide/operation.md#costs-and-margin. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const usages = yield* Usages
  const costs = yield* TrunkCosts.make

  /** How tenants and trunks are called. */
  const names = (by: Margin.Grouping, groups: ReadonlyArray<string>) =>
    by === "tenant" || by === "trunk"
      ? Effect.map(
          Effect.orDie(sql<{ readonly id: string; readonly name: string }>`
            SELECT id::text AS id, ${by === "tenant" ? sql`slug` : sql`coalesce(host, name)`} AS name
            FROM ${sql.literal(by === "tenant" ? "tenant" : "route")} WHERE id::text = ANY(${groups}::text[])`),
          (rows) => new Map(rows.map(({ id, name }) => [id, name]))
        )
      : Effect.succeed(new Map<string, string>())

  return [
    Operation.make(
      "cost/import",
      Schema.Struct({
        trunk: Schema.String,
        csv: Schema.String,
        effective: Schema.optionalKey(Operation.Moment)
      }),
      Effect.fnUntraced(function* ({ csv, effective = null, trunk }) {
        const rates = RateCsvTable.read(csv)
        if (Result.isFailure(rates)) return yield* ApiError.of("invalid_request", rates.failure)
        yield* costs.set(trunk, rates.success, effective)
        return { trunk, rates: rates.success.length }
      })
    ),
    Operation.make(
      "cost/list",
      Schema.Struct({ deck: Schema.optionalKey(Schema.Int) }),
      Effect.fnUntraced(function* ({ deck }) {
        if (deck === undefined)
          return {
            results: (yield* costs.decks).toReversed().map(({ effectiveAt, id, importedAt, rows, trunk }) => ({
              deck: id,
              trunk,
              effective_at: Timestamp.format(effectiveAt),
              imported_at: Timestamp.format(importedAt),
              rows
            }))
          }
        return {
          results: (yield* costs.ratesOf(deck)).map(({ direction, microUsdPerMinute, prefix }) => ({
            direction,
            prefix,
            micro_usd_per_minute: microUsdPerMinute
          }))
        }
      })
    ),
    Operation.make(
      "margin",
      Schema.Struct({
        from: Operation.Moment,
        to: Operation.Moment,
        by: Schema.optionalKey(Schema.Literals(Margin.groupings))
      }),
      Effect.fnUntraced(function* ({ by = "none", from, to }) {
        if (to <= from) return yield* ApiError.of("invalid_request", "to must be after from", "to")
        if (to - from > Period.longestMs)
          return yield* ApiError.of("invalid_request", "the period is longer than 92 days", "to")
        const [left] = yield* Effect.orDie(sql`SELECT 1 FROM usage_backfill WHERE name = 'trunks'`)
        if (left !== undefined)
          return yield* ApiError.of(
            "conflict",
            "the calls that the version before left are still being read, which takes some minutes for each 100,000"
          )
        // What waits for its sums is not among what is read.
        yield* Effect.orDie(usages.sum)
        const groups = yield* Effect.provideService(
          Margin.read({ from, to, by, tariff: yield* costs.between(from, to) }),
          SqlClient.SqlClient,
          sql
        )
        const named = yield* names(
          by,
          [...groups.keys()].filter((group) => group !== null)
        )
        return {
          results: [...groups].map(([group, sums]) => ({
            group,
            name: named.get(group ?? "") ?? null,
            ...shown(sums)
          }))
        }
      })
    )
  ]
})

/** The margin is of calls whose cost is known; where there is none, it is not known either. */
const shown = ({ calls, costMicroUsd, debitedMicroUsd, knownCalls, knownDebitedMicroUsd, minutes }: Margin.Sums) => ({
  calls,
  minutes,
  debited_micro_usd: debitedMicroUsd,
  cost_micro_usd: knownCalls === 0 ? null : costMicroUsd,
  margin_micro_usd: knownCalls === 0 ? null : knownDebitedMicroUsd - costMicroUsd,
  unknown_calls: calls - knownCalls,
  unknown_debited_micro_usd: debitedMicroUsd - knownDebitedMicroUsd
})
