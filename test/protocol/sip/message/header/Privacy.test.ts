import { describe, expect, it } from "@effect/vitest"
import * as Privacy from "../../../../../src/protocol/sip/message/header/Privacy.ts"
import * as SipSample from "../../../../support/fake/SipSample.ts"

const shown = "<sip:+4930123456@trunk>;tag=1"
const withheld = (privacy: ReadonlyArray<string>, from = shown) =>
  Privacy.withholdsNumber(
    SipSample.request("INVITE", { from, headers: privacy.map((value) => ["Privacy", value] as const) })
  )

describe("the number of a caller (RFC 3323, RFC 3325)", () => {
  for (const privacy of ["id", "user", "header", "ID ; critical", "session;id", "none, user"])
    it(`is withheld with Privacy: ${privacy}`, () => expect(withheld([privacy])).toBe(true))
  for (const privacy of ["none", "session", "history", "critical;session", "", "identity"])
    it(`is not withheld with Privacy: ${privacy}`, () => expect(withheld([privacy])).toBe(false))
  it("is withheld when any of several headers says so", () => {
    expect(withheld([])).toBe(false)
    expect(withheld(["session", "id"])).toBe(true)
  })
  for (const from of [
    '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1',
    "<sip:Anonymous@trunk.example>;tag=1",
    "<sip:+4930123456@anonymous.invalid>;tag=1"
  ])
    it(`is withheld by From: ${from}`, () => expect(withheld([], from)).toBe(true))
  it("is not withheld by a name that only looks like it", () => {
    expect(withheld([], '"Anonymous" <sip:+4930123456@trunk>;tag=1')).toBe(false)
    expect(withheld([], "<sip:anonymous1@trunk>;tag=1")).toBe(false)
  })
})
