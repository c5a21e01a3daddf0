import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from "libphonenumber-js/max"
import examples from "libphonenumber-js/mobile/examples"
import * as E164 from "../../src/domain/E164.ts"

describe("a number is E.164, guide/requests.md#phone-numbers", () => {
  it.each([
    "+12025550100",
    "+12025550150",
    "+4930123456",
    "+4912345",
    "+61414674199",
    "+390612345678",
    "+2250123456789",
    "+78121234567",
    "+80012345678",
    "+80812345678",
    "+870773111632",
    "+881612345678",
    "+883510012345",
    "+878101234567890"
  ])("%s is", (number) => expect(E164.isE164(number)).toBe(true))

  it.each([
    ["an international prefix after the plus", "+005352123456"],
    ["an international prefix after the plus", "+0115352123456"],
    ["an international prefix after a calling code, too long for its plan", "+10115352123456"],
    ["an international prefix after a calling code, in the length of its plan", "+10115352123"],
    ["an international prefix after a calling code, in the length of its plan", "+4900535212345"],
    ["an international prefix after a calling code, in the length of its plan", "+390012345678"],
    ["the international prefix of its own country, which is not 00", "+78105352123"],
    ["the international prefix of its own country, which is not 00", "+8101053521234"],
    ["a national prefix after the calling code", "+4903012345678"],
    ["a national prefix after the calling code", "+440207946095"],
    ["a national prefix after the calling code", "+112025550100"],
    ["a calling code that nobody has", "+999123456"],
    ["a calling code that nobody has", "+21012345678"],
    ["a leading zero", "+0414674199"],
    ["a length that its plan lacks", "+1202555010"],
    ["a length that its plan lacks", "+120255501001"],
    ["a length that its plan lacks", "+123456"],
    ["another text", "12025550100"],
    ["another text", "+1 2025550100"],
    ["another text", "+12025550100 "],
    ["another text", "+12025550100;ext=1"],
    ["another text", "+\u0661\u0662025550100"]
  ])("not with %s: %s", (_why, number) => {
    expect(E164.isE164(number)).toBe(false)
    expect(Schema.decodeUnknownExit(E164.E164)(number)._tag).toBe("Failure")
  })

  it("an example of every country is, in any form that its plan calls valid", () => {
    const wrong = getCountries().flatMap((country) => {
      const number = `+${getCountryCallingCode(country)}${examples[country] ?? ""}`
      return E164.isE164(number) ? [] : [number]
    })
    expect(wrong).toEqual([])
  })

  const Case = Schema.Struct({
    country: Schema.Literals(getCountries()),
    prefix: Schema.Literals(["00", "011", "0011", "010", "810", "119", "0"]),
    to: Schema.Literals(["5352123456", "53521234", "88161234567", "4930123456"])
  })
  it.prop(
    "no number hides another after an international prefix, unless a plan has it",
    { drawn: Case },
    ({ drawn }) => {
      const { country, prefix, to } = drawn
      for (const number of [`+${prefix}${to}`, `+${getCountryCallingCode(country)}${prefix}${to}`])
        if (E164.isE164(number)) {
          const phone = parsePhoneNumberFromString(number)
          expect([number, phone?.number]).toEqual([number, number])
          expect(phone?.isValid() === true || !/^(00|011)/.test(phone?.nationalNumber ?? "")).toBe(true)
        }
    }
  )
})
