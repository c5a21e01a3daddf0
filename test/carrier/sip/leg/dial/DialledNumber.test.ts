import { describe, expect, it } from "@effect/vitest"
import * as DialledNumber from "../../../../../src/carrier/sip/leg/dial/DialledNumber.ts"
import * as Requests from "../../../../../src/protocol/sip/message/Requests.ts"
import type { Header } from "../../../../../src/protocol/sip/message/SipMessage.ts"

const invite = (uri: string, to: string, from = "<sip:+4930123456@trunk>;tag=1", headers: ReadonlyArray<Header> = []) =>
  Requests.make({ method: "INVITE", uri, to, from, headers, sentBy: "h", branch: "z9hG4bK1", callId: "c", cseq: 1 })

describe("the number that an INVITE calls", () => {
  const rows: ReadonlyArray<readonly [uri: string, to: string, number: string | null]> = [
    ["sip:+12025550150@h", "<sip:x@h>", "+12025550150"],
    ["sip:12025550150@h", "<sip:x@h>", "+12025550150"],
    ["sip:0012025550150@h;user=phone", "<sip:x@h>", "+12025550150"],
    ["sip:+1-202-555-0150;npdi=yes@h", "<sip:x@h>", "+12025550150"],
    ["tel:+12025550150", "<sip:x@h>", "+12025550150"],
    ["sip:%2B12025550150@h", "<sip:x@h>", "+12025550150"],
    ["sip:trunkline@h", "<sip:+12025550150@h>", "+12025550150"],
    ["sip:h", "<tel:+12025550150>", "+12025550150"],
    ["sip:sales@h", "<sip:sales@h>", null],
    ["sip:h", "<sip:h>", null]
  ]
  for (const [uri, to, number] of rows)
    it(`is ${number ?? "none"} for ${uri} and To ${to}`, () => {
      expect(DialledNumber.called(invite(uri, to))).toBe(number)
    })
})

describe("who calls", () => {
  const caller = (from: string, headers: ReadonlyArray<Header> = []) =>
    DialledNumber.caller(invite("sip:h", "<sip:h>", from, headers))

  it("is the number of From", () => {
    expect(caller('"Bob" <sip:4930123456@trunk>;tag=1')).toBe("+4930123456")
  })
  const asserted: Header = ["P-Asserted-Identity", "<sip:x@h>, <tel:+4930123456>"]
  it("is the asserted identity where From names an account", () => {
    expect(caller('"Bob" <sip:account7@trunk>;tag=1', [asserted])).toBe("+4930123456")
  })
  it("is anonymous where the number is withheld, whatever the trunk asserts", () => {
    expect(caller('"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1', [asserted])).toBe("anonymous")
    expect(caller("<sip:+4930123456@trunk>;tag=1", [asserted, ["Privacy", "id"]])).toBe("anonymous")
    expect(caller("<sip:+4930123456@trunk>;tag=1", [asserted, ["Privacy", "none"]])).toBe("+4930123456")
  })
  it("is the name in From where there is no number, at most 128 characters of it", () => {
    expect(caller("<sip:bob@h>;tag=1")).toBe("bob")
    expect(caller(`<sip:${"b".repeat(500)}@h>;tag=1`)).toHaveLength(128)
    expect(caller("<sip:h>;tag=1")).toBe("anonymous")
  })
})
