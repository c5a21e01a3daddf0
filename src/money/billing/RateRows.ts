import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Increments from "../../domain/price/Increments.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import type * as RateDeck from "./RateDeck.ts"

/** The tables of the rows of decks: prices of tenants, and costs of trunks. They have the same columns. */
type Table = "rate" | "cost_rate"

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
  return {
    /** The rows of a deck: outbound before inbound, each by prefix. */
    read: (deck: number): Effect.Effect<ReadonlyArray<RateDeck.Rate>> =>
      Effect.map(
        all<Row>`
          SELECT direction, prefix, micro_usd_per_minute, first_secs, step_secs, connection_fee_micro_usd,
            minimum_micro_usd FROM ${name}
          WHERE deck = ${deck} ORDER BY direction DESC, prefix`,
        (rows) => rows.map(rateOf)
      ),
    insert: (deck: number, rates: ReadonlyArray<RateDeck.Rate>): Effect.Effect<void> => {
      const rows = rates.map(({ increments = Increments.byTheMinute, ...rate }): Row => ({ ...rate, ...increments }))
      return done`
        INSERT INTO ${name} (deck, direction, prefix, micro_usd_per_minute, first_secs, step_secs,
          connection_fee_micro_usd, minimum_micro_usd)
        SELECT ${deck}::int, direction, prefix, "microUsdPerMinute", "firstSecs", "stepSecs", "connectionFeeMicroUsd",
          "minimumMicroUsd"
        FROM jsonb_to_recordset(${json(rows)}) AS r(direction text, prefix text, "microUsdPerMinute" bigint,
          "firstSecs" int, "stepSecs" int, "connectionFeeMicroUsd" bigint, "minimumMicroUsd" bigint)`
    }
  }
}
