import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as NameAddr from "../../../../../src/protocol/sip/message/header/NameAddr.ts"

const read = (value: string) => Result.getOrThrow(NameAddr.parse(value))

describe("RFC 3261 section 20.10: name-addr and addr-spec", () => {
  it.each([
    [
      '"A. \\"G\\" Bell" <sip:a@b;lr> ;tag = "x y";q=0.5',
      {
        displayName: 'A. "G" Bell',
        uri: "sip:a@b;lr",
        params: [
          ["tag", "x y"],
          ["q", "0.5"]
        ]
      }
    ],
    ["Anonymous <sip:c8oq@x.org>;tag=h", { displayName: "Anonymous", uri: "sip:c8oq@x.org", params: [["tag", "h"]] }],
    ["John (Sales)<sip:a@b>", { displayName: "John (Sales)", uri: "sip:a@b", params: [] }],
    [
      '<sip:a@b>;TAG=Ab;+sip.instance="<urn:x>"',
      {
        displayName: "",
        uri: "sip:a@b",
        params: [
          ["tag", "Ab"],
          ["+sip.instance", "<urn:x>"]
        ]
      }
    ],
    ["sip:a@b;tag=1", { displayName: "", uri: "sip:a@b", params: [["tag", "1"]] }],
    ['tel:+1202;x="<y>"', { displayName: "", uri: "tel:+1202", params: [["x", "<y>"]] }]
  ] as const)("reads %s", (value, expected) => expect(read(value)).toStrictEqual(expected))

  it.each([
    "",
    "*",
    '"open <sip:a@b>',
    '"x" sip:a@b',
    "<sip:a@b",
    "< sip:a@b >",
    "<sip:a@b>;",
    "<sip:a@b>;;x",
    "<sip:a@b>x",
    "<sip:a@b>;x=",
    "Bell, A <sip:a@b>",
    "sip:a@b?x=y",
    "sip:a@b,c",
    "<a>",
    "<sip:>",
    '<sip:a@b>;x="y'
  ])("refuses %j", (value) => expect(Result.isFailure(NameAddr.parse(value))).toBe(true))

  it("splits several values at commas outside quotes and brackets", () => {
    const all = Result.getOrThrow(NameAddr.parseAll(['"a, b" <sip:x,y@h>;q=1, <sip:2>', "<sip:3>"]))
    expect(all.map(({ uri }) => uri)).toStrictEqual(["sip:x,y@h", "sip:2", "sip:3"])
    expect(Result.isFailure(NameAddr.parseAll(["<sip:1>, ,<sip:2>"]))).toBe(true)
  })

  it("reads a tag", () => {
    expect(NameAddr.tag(read("<sip:a@b>;x;tag=1"))).toBe("1")
    expect(NameAddr.tag(read("<sip:a@b>"))).toBeNull()
  })

  const param = Schema.Tuple([
    Schema.String.check(Schema.isPattern(/^[a-z0-9.-]{1,8}$/)),
    Schema.NullOr(Schema.String.check(Schema.isPattern(/^[ -~]{0,12}$/)))
  ])
  it.prop(
    "parse after format gives the same value",
    {
      displayName: Schema.String.check(Schema.isPattern(/^[ -~\u00a1-\u07ff]{0,20}$/)),
      params: Schema.Array(param)
    },
    ({ displayName, params }) => {
      const value: NameAddr.NameAddr = { displayName, uri: "sip:a,b;c@h;lr?x=y", params }
      expect(read(NameAddr.format(value))).toStrictEqual(value)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "no text makes it throw",
    { value: Schema.String.check(Schema.isPattern(/^[<>"\\;=,: a@*?-]{0,30}$/)), other: Schema.String },
    ({ other, value }) => void [NameAddr.parseAll([value]), NameAddr.parse(other)],
    { arbitrary: { runs: 1000 } }
  )
})
