import { describe, expect, it } from "@effect/vitest"
import * as Expires from "../../../../../src/protocol/sip/message/header/Expires.ts"
import * as SipSample from "../../../../support/fake/SipSample.ts"

const waitMs = (value: string) => Expires.waitMs(SipSample.request("INVITE", { headers: [["Expires", value]] }))

describe("how long an INVITE waits (RFC 3261 section 13.3.1)", () => {
  it("is what Expires says, at most a day", () => {
    expect(waitMs("30")).toBe(30_000)
    expect(waitMs("0")).toBe(0)
    for (const longer of ["86401", "4294967295", "99999999999999999999"]) expect(waitMs(longer)).toBe(86_400_000)
  })
  it("is not limited where it says nothing that can be read", () => {
    for (const value of ["", "-1", "1.5", "soon", "Thu, 01 Dec 1994 16:00:00 GMT"]) expect(waitMs(value)).toBe(null)
    expect(Expires.waitMs(SipSample.request("INVITE"))).toBe(null)
  })
})
