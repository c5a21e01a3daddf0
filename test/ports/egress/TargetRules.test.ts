import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as TargetRules from "../../../src/ports/egress/TargetRules.ts"

const rulesOf = (rules: { readonly allow?: ReadonlyArray<string>; readonly deny?: ReadonlyArray<string> }) => {
  const side = (verdict: TargetRules.Verdict, values: ReadonlyArray<string> = []) =>
    values.map((value) => ({ value: Result.getOrThrow(TargetRules.parse(value)), verdict }))
  return TargetRules.make([...side("allow", rules.allow), ...side("deny", rules.deny)])
}

describe("A rule for targets", () => {
  it("has one spelling, whatever the operator types", () => {
    for (const [text, value] of [
      ["Hooks.Example.COM", "hooks.example.com"],
      ["hooks.example.com.", "hooks.example.com"],
      [".example.com", ".example.com"],
      ["bücher.example", "xn--bcher-kva.example"],
      ["192.0.2.7", "192.0.2.7/32"],
      ["192.0.2.7/24", "192.0.2.0/24"],
      ["::ffff:192.0.2.7", "192.0.2.7/32"],
      ["2001:DB8::1/32", "2001:db8::/32"],
      ["0.0.0.0/0", "0.0.0.0/0"]
    ] as const)
      expect([text, Result.getOrNull(TargetRules.parse(text))]).toEqual([text, value])
  })

  it("names a host, a domain or a network, and nothing else", () => {
    for (const text of [
      "",
      ".",
      "..",
      "https://a.example",
      "a.example/path",
      "a.example:443",
      "u@a.example",
      "a b",
      "*.example.com",
      "0x7f.1",
      "2130706433",
      "192.0.2.0/33",
      "192.0.2.0/24/1",
      "192.0.2.0/",
      "::/129",
      "a..b",
      "-a.example",
      "[::1]",
      "a%2eb"
    ])
      expect([text, Result.isFailure(TargetRules.parse(text))]).toEqual([text, true])
  })

  it.prop("never throws on any text, and reads its own spelling as it is", { text: Schema.String }, ({ text }) => {
    const parsed = TargetRules.parse(text)
    if (Result.isSuccess(parsed)) expect(TargetRules.parse(parsed.success)).toEqual(parsed)
  })
})

describe("What the operator denies", () => {
  const rules = rulesOf({ deny: ["bad.example", ".evil.example", "198.51.100.0/24", "2001:db8::/32"] })

  it("is refused by its name, by that of a domain above it, and by any of its addresses", () => {
    for (const host of ["bad.example", "evil.example", "a.b.evil.example", "198.51.100.9"])
      expect([host, rules.refusesHost(host)]).toEqual([host, true])
    for (const host of ["good.example", "notevil.example", "sub.bad.example", "203.0.113.1"])
      expect([host, rules.refusesHost(host)]).toEqual([host, false])
    expect(rules.refuses("good.example", ["203.0.113.1"])).toBe(false)
    expect(rules.refuses("good.example", ["203.0.113.1", "198.51.100.9"])).toBe(true)
  })

  it("is refused in every spelling of its address, through NAT64 too", () => {
    for (const address of ["::ffff:198.51.100.9", "64:ff9b::198.51.100.9", "2001:db8:1::1"])
      expect([address, rules.refuses("good.example", [address])]).toEqual([address, true])
  })
})

describe("Once the operator allows something", () => {
  it("nothing else is reached, and what is denied is refused all the same", () => {
    const rules = rulesOf({ allow: [".partner.example", "203.0.113.0/24"], deny: ["bad.partner.example"] })
    expect(rules.refuses("hooks.partner.example", ["198.51.100.1"])).toBe(false)
    expect(rules.refuses("elsewhere.example", ["203.0.113.1", "203.0.113.2"])).toBe(false)
    expect(rules.refuses("elsewhere.example", ["203.0.113.1", "198.51.100.1"])).toBe(true)
    expect(rules.refuses("elsewhere.example", ["198.51.100.1"])).toBe(true)
    expect(rules.refuses("bad.partner.example", ["203.0.113.1"])).toBe(true)
    // A name whose addresses may be allowed is not refused before they are known.
    expect(rules.refusesHost("elsewhere.example")).toBe(false)
    expect(rules.refusesHost("198.51.100.1")).toBe(true)
  })

  it("a host that is not named is refused before it is resolved, where no network is allowed", () =>
    expect(rulesOf({ allow: ["a.example"] }).refusesHost("b.example")).toBe(true))
})
