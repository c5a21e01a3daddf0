import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What trunks cost the operator: decks with the moment from which each holds. `trunk` is a route's id, or a host. */
export const trunkCost = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE cost_deck (
      id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, trunk text NOT NULL, effective_at timestamptz NOT NULL,
      imported_at timestamptz NOT NULL, rows int NOT NULL
    )`
  yield* sql`
    CREATE TABLE cost_rate (
      deck int NOT NULL REFERENCES cost_deck, direction text NOT NULL, prefix text NOT NULL,
      micro_usd_per_minute bigint NOT NULL, PRIMARY KEY (deck, direction, prefix)
    )`
})
