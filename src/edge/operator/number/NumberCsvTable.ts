import { Result, Schema } from "effect"
import { isE164 } from "../../../domain/E164.ts"
import { Inventory, NumberView } from "../../../numbers/number/Number.ts"
import * as CsvTable from "../command/CsvTable.ts"

/** The limit is 10,000 dollars, because a higher price is a mistyped unit. */
const maxCents = 1_000_000

export const Price = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxCents }))

/** `features` are in one cell, separated by spaces, commas or semicolons; without any, a number has `voice`. */
export const read = (text: string) =>
  CsvTable.read(
    text,
    {
      required: ["phone_number", "country_code", "number_type", "upfront_cost_cents", "monthly_cost_cents"],
      optional: ["national_destination_code", "region", "locality", "rate_center", "features"]
    },
    (cell): Result.Result<Inventory.InventoryEntry, string> => {
      const phoneNumber = cell("phone_number")
      if (!isE164(phoneNumber))
        return Result.fail(
          `phone_number must be E.164 (+, a country code and a number of its plan), not "${phoneNumber}"`
        )
      const countryCode = cell("country_code").toUpperCase()
      if (!/^[A-Z]{2}$/.test(countryCode))
        return Result.fail(`country_code must be two letters, not "${cell("country_code")}"`)
      const numberType = NumberView.numberTypes.find((type) => type === cell("number_type"))
      if (numberType === undefined)
        return Result.fail(
          `number_type must be one of ${NumberView.numberTypes.join(", ")}, not "${cell("number_type")}"`
        )
      const features = cell("features")
        .toLowerCase()
        .split(/[\s,;]+/)
        .filter((feature) => feature !== "")
      return Result.gen(function* () {
        const entry: Inventory.InventoryEntry = {
          phoneNumber,
          countryCode,
          numberType,
          nationalDestinationCode: cell("national_destination_code") || null,
          region: cell("region") || null,
          locality: cell("locality") || null,
          rateCenter: cell("rate_center") || null,
          features: features.length === 0 ? ["voice"] : features,
          upfrontCostCents: yield* CsvTable.natural("upfront_cost_cents", cell("upfront_cost_cents"), maxCents),
          monthlyCostCents: yield* CsvTable.natural("monthly_cost_cents", cell("monthly_cost_cents"), maxCents)
        }
        const refused = Inventory.faultOf(entry)
        return refused === null ? entry : yield* Result.fail(refused)
      })
    },
    ({ phoneNumber }) => phoneNumber
  )
