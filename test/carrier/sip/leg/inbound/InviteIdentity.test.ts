import { describe, expect, it } from "@effect/vitest"
import * as InviteIdentity from "../../../../../src/carrier/sip/leg/inbound/InviteIdentity.ts"
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
    // A number in national form stays as it came: the number plan of its trunk reads it.
    ["sip:0414674199@h", "<sip:x@h>", "0414674199"],
    ["sip:0414674199@h", "<sip:+61414674199@h>", "+61414674199"],
    ["sip:1234%230414674199@h", "<sip:x@h>", "1234#0414674199"],
    ["sip:100@h", "<sip:x@h>", null],
    ["sip:sales@h", "<sip:sales@h>", null],
    ["sip:h", "<sip:h>", null]
  ]
  for (const [uri, to, number] of rows)
    it(`is ${number ?? "none"} for ${uri} and To ${to}`, () => {
      expect(InviteIdentity.called(invite(uri, to))).toBe(number)
    })
})

describe("who calls", () => {
  const caller = (from: string, headers: ReadonlyArray<Header> = []) =>
    InviteIdentity.caller(invite("sip:h", "<sip:h>", from, headers))

  it("is the number of From", () => {
    expect(caller('"Bob" <sip:4930123456@trunk>;tag=1')).toBe("+4930123456")
  })
  const asserted: Header = ["P-Asserted-Identity", "<sip:x@h>, <tel:+4930123456>"]
  it("is the asserted identity where From names an account", () => {
    expect(caller('"Bob" <sip:account7@trunk>;tag=1', [asserted])).toBe("+4930123456")
  })
  it("is the asserted identity where From has an account of seven digits, which is no number of Russia", () => {
    expect(caller("<sip:7123456@trunk>;tag=1", [asserted])).toBe("+4930123456")
  })
  it("keeps a number in national form as it came, without a plus", () => {
    expect(caller("<sip:0414674199@trunk>;tag=1")).toBe("0414674199")
    expect(caller("<sip:2125550123@trunk>;tag=1")).toBe("2125550123")
  })
  it("is that of Remote-Party-ID where nothing else has a number", () => {
    const remote: Header = ["Remote-Party-ID", '"Bob" <sip:+4930123456@h>;party=calling;privacy=off']
    expect(caller("<sip:account7@trunk>;tag=1", [remote])).toBe("+4930123456")
    expect(caller("<sip:account7@trunk>;tag=1", [["Remote-Party-ID", "<sip:+4930123456@h>;party=called"]])).toBe(
      "account7"
    )
    const own = (remote: string) => caller("<sip:+4930123456@h>;tag=1", [["Remote-Party-ID", remote]])
    expect(own("<sip:+4930123456@h>;privacy=full")).toBe("anonymous")
    expect(own("<sip:+4930123456@h>;party=calling;privacy=uri-network")).toBe("anonymous")
    expect(own("<sip:+12025550150@h>;party=called;privacy=full")).toBe("+4930123456")
  })
  it("is that of a readable value where another one is malformed", () => {
    expect(caller("<sip:x@trunk>;tag=1", [["P-Asserted-Identity", "<sip:x@h, <tel:+4930123456>"], asserted])).toBe(
      "+4930123456"
    )
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

describe("the identity of an INVITE", () => {
  it("has the parties in the words of the peer, with name, diversion and privacy", () => {
    const request = invite("sip:0298765432@h", "<sip:x@h>", '"Bob" <sip:0414674199@trunk>;tag=1', [
      ["P-Asserted-Identity", '"Ada" <sip:0414674198@trunk;user=phone>'],
      ["Diversion", "<sip:0298765431@h>;reason=no-answer"],
      ["Remote-Party-ID", "<sip:0414674197@h>;privacy=name"]
    ])
    expect(InviteIdentity.of(request)).toEqual({
      called: ["0298765432", "x"],
      from: { user: "0414674199", name: "Bob" },
      asserted: [{ user: "0414674198", name: "Ada" }],
      remote: [{ user: "0414674197", name: "" }],
      isNumberWithheld: false,
      isNameWithheld: true,
      diversion: [{ user: "0298765431", reason: "no_answer" }],
      attested: null
    })
  })
})
