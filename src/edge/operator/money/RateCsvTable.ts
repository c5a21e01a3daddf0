import { Result } from "effect"
import { RateDeck } from "../../../money/billing/Billing.ts"
import * as CsvTable from "../command/CsvTable.ts"

/** The columns are `direction,prefix,micro_usd_per_minute`; the prefix may have a `+`. */
export const read = (text: string): Result.Result<ReadonlyArray<RateDeck.Rate>, string> =>
  CsvTable.read(
    text,
    { required: ["direction", "prefix", "micro_usd_per_minute"], optional: [] },
    (cell): Result.Result<RateDeck.Rate, string> => {
      const direction = cell("direction")
      if (direction !== "outbound" && direction !== "inbound")
        return Result.fail(`direction must be outbound or inbound, not "${direction}"`)
      const prefix = cell("prefix").replace(/^\+/, "")
      if (!/^[0-9]{0,15}$/.test(prefix)) return Result.fail(`prefix must be at most 15 digits, not "${cell("prefix")}"`)
      return Result.map(
        CsvTable.natural("micro_usd_per_minute", cell("micro_usd_per_minute"), RateDeck.maxMicroUsdPerMinute),
        (microUsdPerMinute) => ({ direction, prefix, microUsdPerMinute })
      )
    },
    ({ direction, prefix }) => `${direction} prefix "${prefix}"`
  )
