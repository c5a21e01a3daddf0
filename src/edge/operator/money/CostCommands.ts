import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Cost from "../../../money/cost/Cost.ts"
import { Period, Usages } from "../../../money/usage/Usage.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as RateCommands from "./RateCommands.ts"
import * as RateCsvTable from "./RateCsvTable.ts"

/** The slugs of tenants and the hosts of trunks, by their ids. */
const namesOf = Effect.fnUntraced(function* (by: Cost.Margin.Grouping, groups: ReadonlyArray<string>) {
  if (by !== "tenant" && by !== "trunk") return new Map<string, string>()
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<{ readonly id: string; readonly name: string }>`
    SELECT id::text AS id, ${by === "tenant" ? sql`slug` : sql`coalesce(host, name)`} AS name
    FROM ${sql.literal(by === "tenant" ? "tenant" : "route")} WHERE id::text = ANY(${groups}::text[])`)
  return new Map(rows.map(({ id, name }) => [id, name]))
})

/** Cost and margin are sums over the calls whose cost is known; null when no cost is known. */
const view = ({
  calls,
  costMicroUsd,
  debitedMicroUsd,
  knownCalls,
  knownDebitedMicroUsd,
  minutes
}: Cost.Margin.Sums) => ({
  calls,
  minutes,
  debited_micro_usd: debitedMicroUsd,
  cost_micro_usd: knownCalls === 0 ? null : costMicroUsd,
  margin_micro_usd: knownCalls === 0 ? null : knownDebitedMicroUsd - costMicroUsd,
  unknown_calls: calls - knownCalls,
  unknown_debited_micro_usd: debitedMicroUsd - knownDebitedMicroUsd
})

const margins = Command.table(
  "group name calls minutes debited_micro_usd cost_micro_usd margin_micro_usd unknown_calls unknown_debited_micro_usd"
)
const decks = Command.table("deck trunk effective_at imported_at rows")
const rates = Command.table(RateCsvTable.columns)

/** guide/operation.md#costs-and-margin. */
export const commands = [
  Command.make("cost import", {
    summary: "says what a trunk costs us, from CSV, now or from a moment on",
    input: {
      trunk: Flag.argument("route-id|host", Schema.String, "one route, or every route to a host"),
      csv: RateCommands.csv,
      effective: Flag.optionalTime("from when on it holds, which may have passed; from now on unless given")
    },
    run: Effect.fnUntraced(function* ({ csv, effective = null, trunk }) {
      const rates = yield* RateCommands.ratesOf(csv)
      yield* (yield* Cost.make).set(trunk, rates, effective)
      return { trunk, rates: rates.length }
    })
  }),
  Command.make(
    "cost list",
    {
      summary: "lists the cost decks of all trunks, or shows one",
      input: { deck: RateCommands.deck },
      run: Effect.fnUntraced(function* ({ deck }) {
        const costs = yield* Cost.make
        if (deck !== undefined) return { results: yield* RateCommands.shown(yield* costs.ratesOf(deck)) }
        return {
          results: (yield* costs.decks)
            .toReversed()
            .map((deck) => ({ deck: deck.id, ...Shown.of(deck, "trunk effectiveAt importedAt rows") }))
        }
      })
    },
    { print: (answer, { deck }) => (deck === undefined ? decks : rates)(answer) }
  ),
  Command.make(
    "margin",
    {
      summary: "shows what the minutes of ended calls were charged, what they cost us, and the difference",
      input: {
        from: Flag.time("calls that ended from then on"),
        to: Flag.time("and before then; at most 92 days later"),
        by: Flag.optional(Schema.Literals(Cost.Margin.groupings), "one row for each of these", {
          value: "tenant|trunk|destination"
        })
      },
      run: Effect.fnUntraced(function* ({ by = "none", from, to }) {
        if (to <= from) return yield* ApiError.of("invalid_request", "to must be after from", "to")
        if (to - from > Period.longestMs)
          return yield* ApiError.of("invalid_request", "the period is longer than 92 days", "to")
        // Calls whose sums are still due are not in the rows that are read.
        yield* Effect.orDie((yield* Usages).sum)
        const groups = yield* Cost.Margin.read({ from, to, by, tariff: yield* (yield* Cost.make).between(from, to) })
        const names = yield* namesOf(
          by,
          [...groups.keys()].filter((group) => group !== null)
        )
        return {
          results: [...groups].map(([group, sums]) => ({ group, name: names.get(group ?? "") ?? null, ...view(sums) }))
        }
      })
    },
    {
      print: ({ results }) =>
        margins({
          results: results.map((row) => ({
            ...row,
            cost_micro_usd: row.cost_micro_usd ?? "unknown",
            margin_micro_usd: row.margin_micro_usd ?? "unknown"
          }))
        })
    }
  )
]
