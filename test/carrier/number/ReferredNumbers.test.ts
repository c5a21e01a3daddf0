import { describe, expect, it } from "@effect/vitest"
import * as ReferredNumbers from "../../../src/carrier/number/ReferredNumbers.ts"
import * as TrunkNumberPlan from "../../../src/carrier/number/TrunkNumberPlan.ts"

const { none } = TrunkNumberPlan
const read = (user: string, plan = none) => ReferredNumbers.of(plan, `sip:${user}@carrier.example`)

describe("the numbers that a far end may dial for a SIP URI", () => {
  // A number of Cuba, after the prefixes of several countries, and in what RFC 3966 and exchanges allow around it.
  for (const user of [
    "+5352123456",
    "5352123456",
    "005352123456",
    "0115352123456",
    "00115352123456",
    "8~105352123456",
    "8105352123456",
    "+005352123456",
    "+0115352123456",
    "+53-5212.3456",
    "(53)52123456",
    "%2B5352123456",
    "+5352123456:password",
    "+5352123456;isub=1",
    "+5352123456;ext=12",
    "+5352123456,,1",
    "*31%23+5352123456",
    "*31%23005352123456",
    "%2331%235352123456",
    "52123456;phone-context=+53",
    "52123456;Phone-Context=%2B53"
  ])
    it(user, () => expect(read(user)).toContain("+5352123456"))

  it("after the tech prefix of the trunk, and in its national form", () => {
    expect(read("8885352123456", { ...none, techPrefix: "888" })).toContain("+5352123456")
    expect(read("052123456", { ...none, country: "CU" })).toContain("+5352123456")
  })

  it("a national number of the trunk's country, which begins like the international prefix of another one", () => {
    const germany = { ...none, country: "DE" }
    expect(read("0531123456", germany)).toEqual(["+49531123456"])
    expect(read("015112345678", germany)).toEqual(["+4915112345678"])
    expect(read("005352123456", germany)).toContain("+5352123456")
  })

  for (const user of ["1001", "support", "+53", "911", "bob;phone-context=+53", "a5352123456", "+1234567890123456"])
    it(`${user} is none`, () => expect(read(user)).toEqual([]))

  it("a host alone, and a number of one plan, is no other", () => {
    expect(ReferredNumbers.of(none, "sip:carrier.example")).toEqual([])
    expect(read("+12025550100")).toEqual(["+12025550100"])
  })
})
