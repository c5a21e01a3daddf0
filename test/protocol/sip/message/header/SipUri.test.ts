import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as SipUri from "../../../../../src/protocol/sip/message/header/SipUri.ts"

const read = (text: string) => Result.getOrThrow(SipUri.parse(text))

describe("RFC 3261 section 19.1: SIP URIs", () => {
  it("reads every part", () => {
    expect(read("SIPS:al%69ce:p%2fw@Example.COM:5061;LR;Transport=tcp?subject=a%20b&priority=")).toStrictEqual({
      type: "sip",
      scheme: "sips",
      user: "alice",
      password: "p%2Fw",
      host: "example.com",
      port: 5061,
      params: [
        ["lr", null],
        ["transport", "tcp"]
      ],
      headers: [
        ["subject", "a%20b"],
        ["priority", ""]
      ]
    })
  })

  it("reads an IPv6 host, a host alone and a telephone number as user", () => {
    expect(read("sip:[2001:DB8::1]:5070")).toMatchObject({ host: "[2001:db8::1]", port: 5070, user: null })
    expect(read("sip:+12025550100@192.0.2.1;user=phone")).toMatchObject({ user: "+12025550100", host: "192.0.2.1" })
    expect(read("sip:a;b=c?d@h")).toMatchObject({ user: "a;b=c?d", host: "h" })
  })

  it.each([
    "",
    "alice",
    "sip:",
    "sip:@h",
    "sip:a@",
    "sip:a b@h",
    "sip:a@h:0",
    "sip:a@h:70000",
    "sip:a@h:",
    "sip:a@h;",
    "sip:a@h;;x",
    "sip:a@h;x=",
    "sip:a@h?",
    "sip:a@h?x",
    "sip:a@b@c",
    "sip:%4@h",
    "sip:a@h\r\nRoute: x",
    "sip:<a@h>",
    "sip:a@[::1",
    "tel:",
    "tel:+1a",
    "tel:1;x=",
    "x:",
    "x:a b",
    "x:<a>"
  ])("refuses %j", (text) => expect(Result.isFailure(SipUri.parse(text))).toBe(true))

  it("reads telephone numbers without their separators, RFC 3966", () => {
    expect(read("tel:+1-(202).555-0100;ext=7")).toStrictEqual({
      type: "tel",
      number: "+12025550100",
      params: [["ext", "7"]]
    })
    expect(read("tel:*21#;phone-context=example.com")).toMatchObject({ number: "*21#" })
  })

  it("keeps other schemes unread", () =>
    expect(read("Isbn:2983792873")).toStrictEqual({ type: "other", scheme: "isbn", rest: "2983792873" }))

  it.prop(
    "carries any text in the user part",
    { text: Schema.String.check(Schema.isMinLength(1)) },
    ({ text }) => {
      const uri = Result.getOrThrow(SipUri.parseSipUri(`sip:${SipUri.escapedUser(text)}@h`))
      expect(SipUri.decoded(uri.user ?? "")).toBe(text.toWellFormed())
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "parse after format gives the same URI, and no text makes it throw",
    { text: Schema.String.check(Schema.isPattern(/^(sip|tel|x):[a-z0-9%.;=?@:&+[\]-]{0,20}$/)), other: Schema.String },
    ({ other, text }) => {
      void SipUri.parse(other)
      const uri = SipUri.parse(text)
      if (Result.isSuccess(uri)) expect(read(SipUri.format(uri.success))).toStrictEqual(uri.success)
    },
    { arbitrary: { runs: 1000 } }
  )
})
