import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as E164 from "../../../src/domain/E164.ts"
import * as Destination from "../../../src/domain/number/Destination.ts"
import { refusal, type RuleKind } from "../../../src/money/account/DialingPermissions.ts"
import * as Ids from "../../support/Ids.ts"

const tenantId = Ids.tenant("t")
const rules = (kind: RuleKind, ...values: ReadonlyArray<string>) =>
  values.map((value) => ({ tenantId: null, kind, value }))
const check = (list: ReturnType<typeof rules>, to: string) => refusal(list, tenantId, to)?.code ?? "allowed"

describe("Dialing permissions, guide/calls.md#dialing-permissions", () => {
  const blocked = rules("country_block", "GB", "RU")
  it.each([
    ["+442079460123", "country_blocked"],
    ["+79161234567", "country_blocked"],
    // Numbers that are in no plan, under a calling code of a blocked country.
    ["+44999999999", "country_blocked"],
    ["+79999999999", "country_blocked"],
    // These are no numbers: a trunk could read another country in them, or no plan has them.
    ["+70000000000", "invalid_request"],
    ["+78100442079460123", "invalid_request"],
    ["+00442079460123", "invalid_request"],
    ["+011442079460123", "invalid_request"],
    ["+1011442079460123", "invalid_request"],
    ["+10114420794", "invalid_request"],
    ["+4412345", "invalid_request"],
    ["+441", "invalid_request"],
    // Jersey and Kazakhstan share their calling codes, and are certain.
    ["+441534123456", "allowed"],
    ["+77011234567", "allowed"],
    ["+12025550150", "allowed"],
    ["+4930123456", "allowed"]
  ])("with GB and RU blocked, %s is %s", (to, code) => expect(check(blocked, to)).toBe(code))

  const allowed = rules("country_allow", "US", "DE")
  it.each([
    ["+12025550150", "allowed"],
    ["+4930123456", "allowed"],
    ["+49123456", "allowed"],
    ["+14165550100", "country_not_allowed"],
    // The number is in no plan of the countries that share +1, some of which are not allowed.
    ["+11111111111", "country_not_allowed"],
    ["+881612345678", "country_not_allowed"],
    ["+999123456", "invalid_request"],
    ["+0123456", "invalid_request"]
  ])("with only US and DE allowed, %s is %s", (to, code) => expect(check(allowed, to)).toBe(code))

  it.each([
    ["satellite", "+870773111632"],
    ["satellite", "+881612345678"],
    ["satellite", "+88216123456"],
    ["satellite", "+883510012345"],
    ["premium_rate", "+19005550123"],
    ["premium_rate", "+449098790000"],
    ["premium_rate", "+979123456789"],
    ["shared_cost", "+80812345678"],
    ["unknown", "+44999999999"],
    ["unknown", "+11111111111"]
  ])("the class %s holds %s, and a plain number is in none", (name, to) => {
    expect(check(rules("class_block", name), to)).toBe("prefix_blocked")
    expect(check(rules("class_block", ...Destination.classes), "+442079460123")).toBe("allowed")
  })

  it("the lists are asked in their order, and another tenant's do not count", () => {
    const all = [...rules("prefix_block", "+4490"), ...rules("class_block", "premium_rate"), ...blocked]
    expect(check(all, "+449098790000")).toBe("country_blocked")
    expect(
      refusal([{ tenantId: Ids.tenant("other"), kind: "prefix_block", value: "+1" }], tenantId, "+12025550100")
    ).toBe(null)
  })

  it("a number that no plan has is refused without any list, too", () =>
    expect([check([], "+005352123456"), check([], "+12025550100")]).toEqual(["invalid_request", "allowed"]))

  const Number = Schema.Struct({
    code: Schema.Literals(["1", "7", "44", "49", "53", "61", "262", "881", "999", "0"]),
    rest: Schema.String.check(Schema.isPattern(/^[0-9]{5,12}$/))
  })
  it.prop(
    "a number that may be in a blocked country is never let through as uncertain",
    { drawn: Number },
    ({ drawn }) => {
      const to = `+${drawn.code}${drawn.rest}`
      if (!E164.isE164(to)) return expect(check([], to)).toBe("invalid_request")
      const { candidates, country } = Destination.of(to)
      for (const candidate of candidates.slice(0, 3))
        expect(check(rules("country_block", candidate), to)).toBe(
          country === null || country === candidate ? "country_blocked" : "allowed"
        )
    }
  )
})
