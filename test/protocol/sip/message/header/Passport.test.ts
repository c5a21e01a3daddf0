import { describe, expect, it } from "@effect/vitest"
import * as Passport from "../../../../../src/protocol/sip/message/header/Passport.ts"
import * as Requests from "../../../../../src/protocol/sip/message/Requests.ts"
import type { Header } from "../../../../../src/protocol/sip/message/SipMessage.ts"

const base64 = (text: string) => Buffer.from(text).toString("base64url")
const passport = (payload: object) =>
  `${base64('{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://a.test/c.pem"}')}.${base64(JSON.stringify(payload))}.c2ln;info=<https://a.test/c.pem>;alg=ES256;ppt=shaken`
const claims = {
  attest: "B",
  dest: { tn: ["12025550150"] },
  iat: 1_796_000_000,
  orig: { tn: "12025550123" },
  origid: "1"
}

const of = (...values: ReadonlyArray<string>) =>
  Passport.of(
    Requests.make({
      method: "INVITE",
      uri: "sip:h",
      to: "<sip:h>",
      from: "<sip:b@h>;tag=1",
      headers: values.map((value): Header => ["Identity", value]),
      sentBy: "h",
      branch: "z9hG4bK1",
      callId: "c",
      cseq: 1
    })
  )

describe("what a carrier attests", () => {
  it("is the level and the number of the first PASSporT of SHAKEN", () => {
    expect(of(passport(claims))).toEqual({ level: "B", number: "12025550123" })
    // A PASSporT of another extension (a diversion) attests nothing.
    expect(of(passport({ ...claims, attest: undefined }), passport({ ...claims, attest: "A" }))).toMatchObject({
      level: "A"
    })
  })

  it("is nothing for what is none, whatever it is", () => {
    const values = ["", "..", "a.b.c", '"c2lnbmF0dXJl"', `..${base64("s")};info=<https://a.test/>`, "é.é.é", "a.a.a"]
    for (const value of [...values, passport({ ...claims, attest: "D" }), passport({ ...claims, orig: { uri: "a" } })])
      expect(of(value)).toBe(null)
    expect(of()).toBe(null)
  })
})
