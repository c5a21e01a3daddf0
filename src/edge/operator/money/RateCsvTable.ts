import { Result } from "effect"
import * as Increments from "../../../domain/price/Increments.ts"
import { RateDeck } from "../../../money/billing/Billing.ts"
import * as CsvTable from "../command/CsvTable.ts"

const required = ["direction", "prefix", "micro_usd_per_minute"] as const
const optional = ["first_secs", "step_secs", "connection_fee_micro_usd", "minimum_micro_usd"] as const

/** The columns of a deck as `view` shows them. */
export const columns = [...required, ...optional].join(" ")

/**
 * The prefix may have a `+`. The columns of increments may be left out, and their cells may be empty: then each started
 * minute counts, without a fee and a minimum.
 */
export const read = (text: string) =>
  CsvTable.read(
    text,
    { required, optional },
    (cell): Result.Result<RateDeck.Rate, string> => {
      const direction = cell("direction")
      if (direction !== "outbound" && direction !== "inbound")
        return Result.fail(`direction must be outbound or inbound, not "${direction}"`)
      const prefix = cell("prefix").replace(/^\+/, "")
      // A row for 0053 would be one for no number, and its numbers would cost what a shorter prefix says.
      if (!/^([1-9][0-9]{0,14})?$/.test(prefix))
        return Result.fail(`prefix must be at most 15 digits that begin a country code, not "${cell("prefix")}"`)
      const natural = (column: (typeof optional)[number], otherwise: number, most: number) =>
        cell(column) === "" ? Result.succeed(otherwise) : CsvTable.natural(column, cell(column), most)
      return Result.gen(function* () {
        const most = RateDeck.maxMicroUsdPerMinute
        const microUsdPerMinute = yield* CsvTable.natural("micro_usd_per_minute", cell("micro_usd_per_minute"), most)
        const minute = Increments.byTheMinute
        const increments: Increments.Increments = {
          firstSecs: yield* natural("first_secs", minute.firstSecs, Increments.mostSecs),
          stepSecs: yield* natural("step_secs", minute.stepSecs, Increments.mostSecs),
          connectionFeeMicroUsd: yield* natural("connection_fee_micro_usd", minute.connectionFeeMicroUsd, most),
          minimumMicroUsd: yield* natural("minimum_micro_usd", minute.minimumMicroUsd, most)
        }
        const rate = { direction, prefix, microUsdPerMinute } as const
        if (Increments.areMinutes(increments)) return rate
        const fault = Increments.fault(increments, most)
        return fault === null ? { ...rate, increments } : yield* Result.fail(fault)
      })
    },
    ({ direction, prefix }) => `${direction} prefix "${prefix}"`
  )

/** A row of a deck as it is read. */
export const view = ({ direction, increments = Increments.byTheMinute, microUsdPerMinute, prefix }: RateDeck.Rate) => ({
  direction,
  prefix,
  micro_usd_per_minute: microUsdPerMinute,
  first_secs: increments.firstSecs,
  step_secs: increments.stepSecs,
  connection_fee_micro_usd: increments.connectionFeeMicroUsd,
  minimum_micro_usd: increments.minimumMicroUsd
})
