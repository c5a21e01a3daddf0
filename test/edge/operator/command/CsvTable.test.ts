import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as TimeSlices from "../../../../src/domain/time/TimeSlices.ts"
import * as NumberCsvTable from "../../../../src/edge/operator/number/NumberCsvTable.ts"
import * as RateCsvTable from "../../../../src/edge/operator/money/RateCsvTable.ts"

const read = <A>(table: { readonly read: (text: string) => TimeSlices.Work<A> }, text: string): A =>
  TimeSlices.atOnce(table.read(text))

describe("rate deck as CSV", () => {
  it("reads directions, prefixes with and without +, and the empty prefix", () =>
    expect(
      read(RateCsvTable, "direction,prefix,micro_usd_per_minute\noutbound,+44,9000\noutbound,,10000\ninbound,1,0\n")
    ).toStrictEqual(
      Result.succeed([
        { direction: "outbound" as const, prefix: "44", microUsdPerMinute: 9000 },
        { direction: "outbound" as const, prefix: "", microUsdPerMinute: 10_000 },
        { direction: "inbound" as const, prefix: "1", microUsdPerMinute: 0 }
      ])
    ))

  it("reads increments, and an empty cell as none", () => {
    const fields =
      "direction,prefix,micro_usd_per_minute,first_secs,step_secs,connection_fee_micro_usd,minimum_micro_usd"
    const found = read(RateCsvTable, `${fields}\noutbound,44,9000,30,6,500,\noutbound,1,1,60,60,0,0\n`)
    const increments = { firstSecs: 30, stepSecs: 6, connectionFeeMicroUsd: 500, minimumMicroUsd: 0 }
    expect(found).toStrictEqual(
      Result.succeed([
        { direction: "outbound" as const, prefix: "44", microUsdPerMinute: 9000, increments },
        { direction: "outbound" as const, prefix: "1", microUsdPerMinute: 1 }
      ])
    )
  })

  const header = "direction,prefix,micro_usd_per_minute"
  for (const [title, text, message] of [
    ["an empty text", "", "line 1: there is no header"],
    [
      "an unknown column",
      "direction,prefix,rate",
      'line 1: no column is named "rate"; there are direction, prefix, micro_usd_per_minute, first_secs, step_secs, connection_fee_micro_usd, minimum_micro_usd'
    ],
    ["a missing column", "direction,prefix", "line 1: the column micro_usd_per_minute is missing"],
    ["a column named twice", "direction,direction,prefix", "line 1: the column direction is named twice"],
    [
      "a direction that is none",
      `${header}\nsideways,1,1`,
      'line 2: direction must be outbound or inbound, not "sideways"'
    ],
    [
      "a prefix of letters",
      `${header}\noutbound,US,1`,
      'line 2: prefix must be at most 15 digits that begin a country code, not "US"'
    ],
    [
      "a prefix after an international prefix, which no number of E.164 has",
      `${header}\noutbound,0053,1`,
      'line 2: prefix must be at most 15 digits that begin a country code, not "0053"'
    ],
    [
      "a fraction",
      `${header}\noutbound,1,1\n\noutbound,2,0.5`,
      'line 4: micro_usd_per_minute must be a whole number from 0 to 100000000, not "0.5"'
    ],
    [
      "an increment of no length",
      `${header},step_secs\noutbound,1,1,0`,
      "line 2: first and step must be whole seconds from 1 to 3600"
    ],
    [
      "an increment of more than an hour",
      `${header},first_secs\noutbound,1,1,3601`,
      'line 2: first_secs must be a whole number from 0 to 3600, not "3601"'
    ],
    ["too few cells", `${header}\noutbound,1`, "line 2: 2 cells under 3 columns"],
    [
      "a prefix that stands twice",
      `${header}\noutbound,1,1\noutbound,+1,2`,
      'line 3: outbound prefix "1" stands on line 2 already'
    ]
  ] as const)
    it(`refuses ${title}, naming the line`, () => expect(read(RateCsvTable, text)).toStrictEqual(Result.fail(message)))
})

describe("inventory as CSV", () => {
  it("reads columns in any order; what is left out is null, and features are voice", () =>
    expect(
      read(
        NumberCsvTable,
        "monthly_cost_cents,phone_number,country_code,number_type,upfront_cost_cents,locality\n" +
          '100,+12025550160,us,local,0,"Washington, D.C."\n'
      )
    ).toStrictEqual(
      Result.succeed([
        {
          phoneNumber: "+12025550160",
          countryCode: "US",
          numberType: "local" as const,
          nationalDestinationCode: null,
          region: null,
          locality: "Washington, D.C.",
          rateCenter: null,
          features: ["voice"],
          upfrontCostCents: 0,
          monthlyCostCents: 100
        }
      ])
    ))

  it("reads several features from one cell", () => {
    const found = read(
      NumberCsvTable,
      "phone_number,country_code,number_type,features,upfront_cost_cents,monthly_cost_cents\n" +
        '+12025550160,US,toll_free,"voice, sms;fax",0,100'
    )
    expect(Result.map(found, (all) => all.map(({ features }) => features))).toStrictEqual(
      Result.succeed([["voice", "sms", "fax"]])
    )
  })

  const header = "phone_number,country_code,number_type,upfront_cost_cents,monthly_cost_cents"
  for (const [title, record, message] of [
    [
      "a number that is not E.164",
      "2025550160,US,local,0,0",
      'phone_number must be E.164 (+, a country code and a number of its plan), not "2025550160"'
    ],
    ["a simulated phone", "+12025550100,US,local,0,0", "+12025550100: is a simulated phone"],
    ["a country that is no code", "+12025550160,USA,local,0,0", 'country_code must be two letters, not "USA"'],
    [
      "a type that is none",
      "+12025550160,US,satellite,0,0",
      'number_type must be one of local, toll_free, mobile, national, not "satellite"'
    ],
    [
      "a negative price",
      "+12025550160,US,local,-1,0",
      'upfront_cost_cents must be a whole number from 0 to 1000000, not "-1"'
    ]
  ] as const)
    it(`refuses ${title}, naming the line`, () =>
      expect(read(NumberCsvTable, `${header}\n${record}`)).toStrictEqual(Result.fail(`line 2: ${message}`)))
})
