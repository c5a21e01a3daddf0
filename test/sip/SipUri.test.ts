import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as SipUri from "../../src/sip/SipUri.ts"

const read = (text: string) => Result.getOrThrow(SipUri.parse(text))

describe("RFC 3261 section 19.1: SIP URIs", () => {
  it("reads every part", () => {
    assert.deepStrictEqual(read("SIPS:al%69ce:p%2fw@Example.COM:5061;LR;Transport=tcp?subject=a%20b&priority="), {
      type: "sip",
      scheme: "sips",
      user: "alice",
      password: "p%2Fw",
      host: "example.com",
      port: 5061,
      params: [
        ["lr", undefined],
        ["transport", "tcp"]
      ],
      headers: [
        ["subject", "a%20b"],
        ["priority", ""]
      ]
    })
  })

  it("reads an IPv6 host, a host alone and a telephone number as user", () => {
    assert.deepInclude(read("sip:[2001:DB8::1]:5070"), { host: "[2001:db8::1]", port: 5070, user: undefined })
    assert.deepInclude(read("sip:+12025550100@192.0.2.1;user=phone"), { user: "+12025550100", host: "192.0.2.1" })
    assert.deepInclude(read("sip:a;b=c?d@h"), { user: "a;b=c?d", host: "h" })
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
  ])("refuses %j", (text) => assert.isTrue(Result.isFailure(SipUri.parse(text))))

  it("reads telephone numbers without their separators, RFC 3966", () => {
    assert.deepStrictEqual(read("tel:+1-(202).555-0100;ext=7"), {
      type: "tel",
      number: "+12025550100",
      params: [["ext", "7"]]
    })
    assert.deepInclude(read("tel:*21#;phone-context=example.com"), { number: "*21#" })
  })

  it("keeps other schemes unread", () =>
    assert.deepStrictEqual(read("Isbn:2983792873"), { type: "other", scheme: "isbn", rest: "2983792873" }))

  it.prop(
    "carries any text in the user part",
    { text: Schema.String.check(Schema.isMinLength(1)) },
    ({ text }) => {
      const uri = Result.getOrThrow(SipUri.parseSipUri(`sip:${SipUri.escapedUser(text)}@h`))
      assert.strictEqual(SipUri.decoded(uri.user ?? ""), text.toWellFormed())
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "parse after format gives the same URI, and no text makes it throw",
    { text: Schema.String.check(Schema.isPattern(/^(sip|tel|x):[a-z0-9%.;=?@:&+[\]-]{0,20}$/)), other: Schema.String },
    ({ other, text }) => {
      void SipUri.parse(other)
      const uri = SipUri.parse(text)
      if (Result.isSuccess(uri)) assert.deepStrictEqual(read(SipUri.format(uri.success)), uri.success)
    },
    { arbitrary: { runs: 1000 } }
  )
})
