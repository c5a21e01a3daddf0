import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Increments from "../../domain/price/Increments.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import type * as RateDeck from "./RateDeck.ts"

/** The tables of the rows of decks: prices of tenants, and costs of trunks. They have the same columns. */
type Table = "rate" | "cost_rate"

/** The most rows in a statement: this thread reads or writes them in one turn. */
const portion = 2_000

type Row = Omit<RateDeck.Rate, "increments"> & Increments.Increments

const rateOf = ({ direction, microUsdPerMinute, prefix, ...increments }: Row): RateDeck.Rate => ({
  direction,
  prefix,
  microUsdPerMinute,
  ...(Increments.areMinutes(increments) ? {} : { increments })
})

export const of = (client: SqlClient.SqlClient, table: Table) => {
  const { all, done, json, sql } = Sql.of(client)
  const name = sql.literal(table)
  const portionOf = (deck: number, direction: RateDeck.Direction, after: string | null) => all<Row>`
    SELECT direction, prefix, micro_usd_per_minute, first_secs, step_secs, connection_fee_micro_usd, minimum_micro_usd
    FROM ${name}
    WHERE deck = ${deck} AND direction = ${direction} AND prefix ${after === null ? sql`>=` : sql`>`} ${after ?? ""}
    ORDER BY prefix LIMIT ${portion}`
  return {
    /** The rows of a deck, which never change: outbound before inbound, each by prefix. */
    read: Effect.fnUntraced(function* (deck: number): Effect.fn.Return<ReadonlyArray<RateDeck.Rate>> {
      const rates: Array<RateDeck.Rate> = []
      for (const direction of ["outbound", "inbound"] as const)
        for (let after: string | null = null; ;) {
          const rows: ReadonlyArray<Row> = yield* portionOf(deck, direction, after)
          for (const row of rows) rates.push(rateOf(row))
          if (rows.length < portion) break
          after = rows.at(-1)?.prefix ?? null
        }
      return rates
    }),
    /** Within the caller's transaction. */
    insert: Effect.fnUntraced(function* (deck: number, rates: ReadonlyArray<RateDeck.Rate>): Effect.fn.Return<void> {
      for (let at = 0; at < rates.length; at += portion) {
        const rows = rates
          .slice(at, at + portion)
          .map(({ increments = Increments.byTheMinute, ...rate }): Row => ({ ...rate, ...increments }))
        yield* done`
          INSERT INTO ${name} (deck, direction, prefix, micro_usd_per_minute, first_secs, step_secs,
            connection_fee_micro_usd, minimum_micro_usd)
          SELECT ${deck}::int, direction, prefix, "microUsdPerMinute", "firstSecs", "stepSecs", "connectionFeeMicroUsd",
            "minimumMicroUsd"
          FROM jsonb_to_recordset(${json(rows)}) AS r(direction text, prefix text, "microUsdPerMinute" bigint,
            "firstSecs" int, "stepSecs" int, "connectionFeeMicroUsd" bigint, "minimumMicroUsd" bigint)`
      }
    })
  }
}
