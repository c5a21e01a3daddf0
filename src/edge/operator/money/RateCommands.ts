import { Clock, Effect, Result, Schema } from "effect"
import { Billing, RateDecks } from "../../../money/billing/Billing.ts"
import * as WorkPrice from "../../../domain/WorkPrice.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as Files from "../command/Files.ts"
import * as RateCsvTable from "./RateCsvTable.ts"

/** The most rows of a difference that are shown. */
const shownRows = 1_000

const columns =
  "direction,prefix,micro_usd_per_minute[,first_secs,step_secs][,connection_fee_micro_usd][,minimum_micro_usd]"

/** A rate deck in a CSV file. */
export const csv = Flag.argument("csv", Schema.String, `a file: ${columns}`, { read: Files.text })
export const deck = Flag.optional(Schema.Int, "one deck of the history, by its number")

export const ratesOf = (csv: string) => {
  const rates = RateCsvTable.read(csv)
  return Result.isFailure(rates)
    ? Effect.fail(ApiError.of("invalid_request", rates.failure))
    : Effect.succeed(rates.success)
}

const differences = Command.table("direction prefix from to")

/** guide/operation.md#rates-and-dialing-permissions. */
export const commands = [
  Command.make("rates import", {
    summary: "replaces the rate deck from CSV, all or none, now or from a moment on",
    input: {
      csv,
      effective: Flag.optionalTime("from when on it holds; at once unless given"),
      dryRun: Flag.on("checks the file and writes nothing")
    },
    run: Effect.fnUntraced(function* ({ csv, dryRun, effective = null }) {
      const billing = yield* Billing
      const rates = yield* ratesOf(csv)
      if (dryRun) return { rates: rates.length, changed_rows: (yield* billing.rateDifference(rates, effective)).length }
      yield* billing.setRates(rates, effective)
      yield* Effect.logInfo("rate deck replaced by the operator", { rates: rates.length, effective })
      return { rates: rates.length }
    })
  }),
  Command.make(
    "rates diff",
    {
      summary: "shows what a CSV would change of the deck that holds now, or at a moment; the first 1,000 rows",
      input: { csv, effective: Flag.optionalTime("the moment at which decks are compared; now unless given") },
      run: Effect.fnUntraced(function* ({ csv, effective = null }) {
        const changed = yield* (yield* Billing).rateDifference(yield* ratesOf(csv), effective)
        return { changed_rows: changed.length, results: changed.slice(0, shownRows) }
      })
    },
    { print: (answer) => `${differences(answer)}\n\nchanged rows: ${answer.changed_rows}` }
  ),
  Command.make("rates list", {
    summary: "shows the rate deck that holds now, or one of the history",
    input: { deck },
    columns: RateCsvTable.columns,
    run: Effect.fnUntraced(function* ({ deck }) {
      const billing = yield* Billing
      return { results: (yield* deck === undefined ? billing.rates : billing.ratesOf(deck)).map(RateCsvTable.view) }
    })
  }),
  Command.make("rates history", {
    summary: "lists the rate decks that held, the one that holds, and those that will",
    columns: "deck status effective_at imported_at rows",
    run: Effect.fnUntraced(function* () {
      const now = yield* Clock.currentTimeMillis
      const decks = yield* (yield* Billing).decks
      const current = RateDecks.holding(decks, now)
      return {
        results: decks.toReversed().map((deck) => ({
          deck: deck.id,
          status: deck === current ? "holds" : deck.effectiveAt > now ? "scheduled" : "past",
          ...Shown.of(deck, "effectiveAt importedAt rows")
        }))
      }
    })
  }),
  Command.make("rates cancel", {
    summary: "takes back a rate deck that does not hold yet",
    input: { deck: Flag.argument("deck", Schema.Int, "the deck, by its number in the history") },
    run: ({ deck }) => Billing.use((billing) => Effect.as(billing.cancelRates(deck), { deck, cancelled: true }))
  }),
  Command.make("prices set", {
    summary:
      "sets what work on a call costs: recording, transcription or (of each member) conference a minute, machine_detection a check; and lookup a number",
    input: {
      kind: Flag.argument("kind", Schema.Literals(WorkPrice.priced), WorkPrice.priced.join(", ")),
      microUsd: Flag.argument("micro-usd", Schema.Int, "the price, in millionths of a dollar")
    },
    run: Effect.fnUntraced(function* ({ kind, microUsd }) {
      yield* (yield* Billing).setPrice(kind, microUsd)
      return { kind, micro_usd: microUsd }
    })
  }),
  Command.make("prices list", {
    summary: "shows what work on a call, and a lookup, cost",
    columns: "kind micro_usd",
    run: Effect.fnUntraced(function* () {
      const billing = yield* Billing
      const prices = { ...(yield* billing.prices), lookup: yield* billing.lookupPrice }
      return { results: Object.entries(prices).map(([kind, micro_usd]) => ({ kind, micro_usd })) }
    })
  })
]
