import { describe, expect, it } from "@effect/vitest"
import * as DialogMethod from "../../../../src/protocol/sip/dialog/DialogMethod.ts"

const places = ["outside", "ringing", "calling", "confirmed", "leaving"] as const

describe("the table of methods", () => {
  it("refuses everywhere what nobody serves: 405 a known method, 501 any other", () => {
    for (const method of ["MESSAGE", "PRACK", "PUBLISH", "REFER", "REGISTER", "SUBSCRIBE", "UPDATE"])
      expect(places.map((place) => DialogMethod.of(method).at[place])).toEqual([405, 405, 405, 405, 405])
    for (const method of ["JUMP", "toString", "__proto__", ""])
      expect(places.map((place) => DialogMethod.of(method).at[place])).toEqual([501, 501, 501, 501, 501])
  })

  it("allows what somebody serves", () => {
    expect(DialogMethod.allow).toEqual(["Allow", "INVITE, BYE, OPTIONS, INFO, NOTIFY, ACK, CANCEL"])
  })

  it("answers after its commit what a peer would otherwise not send again", () => {
    const after = ["INVITE", "BYE", "OPTIONS", "INFO", "NOTIFY"].filter(
      (method) => DialogMethod.of(method).answered === "after_commit"
    )
    expect(after).toEqual(["BYE", "INFO", "NOTIFY"])
  })
})
