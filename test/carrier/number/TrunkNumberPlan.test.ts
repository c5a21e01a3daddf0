import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from "libphonenumber-js/max"
import examples from "libphonenumber-js/mobile/examples"
import * as E164 from "../../../src/domain/E164.ts"
import * as TrunkNumberPlan from "../../../src/carrier/number/TrunkNumberPlan.ts"

const plan = (more: Partial<TrunkNumberPlan.TrunkNumberPlan> = {}): TrunkNumberPlan.TrunkNumberPlan => ({
  ...TrunkNumberPlan.none,
  ...more
})
const australia = plan({ country: "AU", sends: "national" })
const america = plan({ country: "US", sends: "national", nationalPrefix: "" })
const germany = plan({ country: "DE", sends: "national" })

describe("a caller that a trunk without a number plan writes", () => {
  const rows: ReadonlyArray<readonly [written: string, reported: string]> = [
    ["0414674199", "0414674199"],
    ["+0414674199", "0414674199"],
    // Morocco has +212, but no number of this length.
    ["2125550123", "2125550123"],
    ["+2125550123", "2125550123"],
    // Egypt has +20, but no such number.
    ["2025550123", "2025550123"],
    // Russia has +7.
    ["7123456", "7123456"],
    ["+999123456", "999123456"],
    ["12025550123", "+12025550123"],
    ["4930123456", "+4930123456"],
    ["004930123456", "+4930123456"],
    ["+49 (30) 12-34.56", "+4930123456"],
    ["+12025550123", "+12025550123"],
    ["00999123456", "00999123456"],
    ["*99", "*99"],
    ["bob", "bob"]
  ]
  for (const [written, reported] of rows)
    it(`${written} is ${reported}`, () =>
      expect(TrunkNumberPlan.reported(TrunkNumberPlan.none, written)).toBe(reported))
})

describe("a caller that a trunk with a number plan writes", () => {
  const rows: ReadonlyArray<readonly [TrunkNumberPlan.TrunkNumberPlan, written: string, reported: string]> = [
    [australia, "0414674199", "+61414674199"],
    [australia, "414674199", "+61414674199"],
    [australia, "+0414674199", "+61414674199"],
    [australia, "61414674199", "+61414674199"],
    [australia, "+61414674199", "+61414674199"],
    [australia, "001112025550123", "+12025550123"],
    [australia, "0012025550123", "+12025550123"],
    [australia, "7123456", "7123456"],
    [america, "2125550123", "+12125550123"],
    [america, "12125550123", "+12125550123"],
    [america, "+2125550123", "+12125550123"],
    // 248 is an area code of Michigan, and the Seychelles.
    [america, "2484217123", "+12484217123"],
    [plan({ country: "US", sends: "e164" }), "2484217123", "+2484217123"],
    [america, "0114930123456", "+4930123456"],
    [germany, "030123456", "+4930123456"],
    [plan({ country: "IT", sends: "national" }), "0612345678", "+390612345678"],
    [plan({ country: "RU", sends: "national" }), "89161234567", "+79161234567"],
    [plan({ country: "RU", sends: "national" }), "8104930123456", "+4930123456"]
  ]
  for (const [of, written, reported] of rows)
    it(`${of.country}: ${written} is ${reported}`, () => expect(TrunkNumberPlan.reported(of, written)).toBe(reported))
})

describe("a number for a trunk", () => {
  const to = (of: TrunkNumberPlan.TrunkNumberPlan, number: string) =>
    TrunkNumberPlan.sent(of, { from: "+12025550123", to: number }).called
  const rows: ReadonlyArray<readonly [Partial<TrunkNumberPlan.TrunkNumberPlan>, number: string, sent: string]> = [
    [{}, "+4930123456", "+4930123456"],
    [{ sends: "e164" }, "+4930123456", "4930123456"],
    [{ sends: "00" }, "+4930123456", "004930123456"],
    [{ sends: "00", country: "AU" }, "+4930123456", "00114930123456"],
    [{ sends: "00", internationalPrefix: "09" }, "+4930123456", "094930123456"],
    [australia, "+61414674199", "0414674199"],
    [australia, "+4930123456", "00114930123456"],
    [america, "+12125550123", "2125550123"],
    [{ ...america, nationalPrefix: null }, "+12125550123", "12125550123"],
    [america, "+4930123456", "0114930123456"],
    [{ techPrefix: "1234#", sends: "e164" }, "+4930123456", "1234#4930123456"],
    // The trunk dials abroad with 119, and no area code of North America begins with 1.
    [{ country: "CU", sends: "e164" }, "+11953521234", "11911953521234"]
  ]
  for (const [more, number, sent] of rows)
    it(`${number} goes out as ${sent} by ${JSON.stringify(more)}`, () => expect(to(plan(more), number)).toBe(sent))

  it("names the caller in the trunk's form, unless the plan sets the user of From or P-Asserted-Identity", () => {
    const numbers = { from: "+61414674199", to: "+61414674198" }
    expect(TrunkNumberPlan.sent(australia, numbers)).toStrictEqual({
      called: "0414674198",
      caller: "0414674199",
      from: "0414674199",
      asserted: "0414674199",
      domain: null
    })
    const named = { ...australia, fromUser: "account7", fromDomain: "sip.example.com" }
    expect(TrunkNumberPlan.sent(named, numbers)).toMatchObject({
      from: "account7",
      asserted: "0414674199",
      domain: "sip.example.com"
    })
    expect(TrunkNumberPlan.sent({ ...named, assertedUser: "pilot" }, numbers)).toMatchObject({ asserted: "pilot" })
  })
})

describe("what goes out and comes back", () => {
  const countries = getCountries()
  const Country = Schema.Literals(countries)
  const Plan = Schema.Struct({
    country: Country,
    sends: Schema.Literals(TrunkNumberPlan.forms),
    prefix: Schema.NullOr(Schema.Literals(["", "0", "1", "9"])),
    tech: Schema.NullOr(Schema.Literals(["1", "00", "0049", "1234#", "*7"]))
  })
  const Case = Schema.Struct({ plan: Plan, of: Country, tail: Schema.Int })

  /** An example number of a country, with another tail: most of them are numbers of its plan. */
  const numberOf = (country: (typeof countries)[number], tail: number): string => {
    const example = `+${getCountryCallingCode(country)}${examples[country] ?? "12345678"}`
    const digits = String(Math.abs(tail) % 1_000).padStart(3, "0")
    return `${example.slice(0, -3)}${digits}`
  }

  it.prop("is the same number, as called and as caller", { drawn: Case }, ({ drawn }) => {
    const number = numberOf(drawn.of, drawn.tail)
    const { country, prefix, sends, tech } = drawn.plan
    const of = plan({ country, sends, nationalPrefix: prefix, techPrefix: tech })
    const sent = TrunkNumberPlan.sent(of, { from: number, to: number })
    expect(TrunkNumberPlan.called(of, sent.called)).toContain(number)
    if (parsePhoneNumberFromString(number)?.isValid() !== true) return
    expect(TrunkNumberPlan.called(of, sent.called)[0]).toBe(number)
    expect(TrunkNumberPlan.reported(of, sent.caller)).toBe(number)
  })

  const Hidden = Schema.Struct({
    plan: Plan,
    of: Country,
    hidden: Schema.Literals(["00", "011", "119", "810", "09"]),
    to: Schema.Literals(["53521234", "5352123456", "4930123456", "4912345"])
  })
  it.prop("is never read as another number, even where no numbering plan has it", { drawn: Hidden }, ({ drawn }) => {
    const number = `+${getCountryCallingCode(drawn.of)}${drawn.hidden}${drawn.to}`
    if (!E164.isE164(number)) return
    const { country, prefix, sends, tech } = drawn.plan
    const of = plan({ country, sends, nationalPrefix: prefix, techPrefix: tech })
    const { called } = TrunkNumberPlan.sent(of, { from: number, to: number })
    expect(TrunkNumberPlan.called({ ...of, techPrefix: null }, called.slice(tech?.length ?? 0))[0]).toBe(number)
  })

  it("is the same number for an example of every country, in every form", () => {
    const unlike = ["AU", "BR", "BY", "CU", "DE", "GB", "HU", "IT", "JP", "KZ", "RU", "US"] as const
    const wrong = unlike.flatMap((country) =>
      TrunkNumberPlan.forms.flatMap((sends) =>
        countries.flatMap((of) => {
          const number = `+${getCountryCallingCode(of)}${examples[of] ?? ""}`
          if (parsePhoneNumberFromString(number)?.isValid() !== true) return []
          const by = plan({ country, sends })
          const { caller } = TrunkNumberPlan.sent(by, { from: number, to: number })
          return TrunkNumberPlan.reported(by, caller) === number ? [] : [`${country} ${sends} ${number} ${caller}`]
        })
      )
    )
    expect(wrong).toEqual([])
  })

  it.prop(
    "never has a plus before a leading 0 or before digits of no numbering plan",
    { text: Schema.Int },
    ({ text }) => {
      for (const written of [String(Math.abs(text)), `0${Math.abs(text)}`, `+${Math.abs(text)}`]) {
        const reported = TrunkNumberPlan.reported(TrunkNumberPlan.none, written)
        if (!reported.startsWith("+")) continue
        expect(reported).not.toMatch(/^\+0/)
        expect(parsePhoneNumberFromString(reported)?.isPossible()).toBe(true)
      }
    }
  )
})
