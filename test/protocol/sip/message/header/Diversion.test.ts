import { describe, expect, it } from "@effect/vitest"
import * as Diversion from "../../../../../src/protocol/sip/message/header/Diversion.ts"
import * as Requests from "../../../../../src/protocol/sip/message/Requests.ts"
import type { Header } from "../../../../../src/protocol/sip/message/SipMessage.ts"

const of = (...headers: ReadonlyArray<Header>) =>
  Diversion.of(
    Requests.make({
      method: "INVITE",
      uri: "sip:h",
      to: "<sip:h>",
      from: "<sip:b@h>;tag=1",
      headers,
      sentBy: "h",
      branch: "z9hG4bK1",
      callId: "c",
      cseq: 1
    })
  )

describe("the diversions of a call", () => {
  it("are those of Diversion, the last one first, with the reasons of RFC 5806", () => {
    expect(
      of(
        ["Diversion", '"Bob" <sip:+12025550160@h>;reason=user-busy;counter=1, <tel:+1-202-555-0161>;reason=no-answer'],
        ["Diversion", "<sip:x@h>;reason=elsewhere"]
      )
    ).toEqual([
      { user: "+12025550160", reason: "user_busy" },
      { user: "+12025550161", reason: "no_answer" },
      { user: "x", reason: "unknown" }
    ])
    expect(of(["Diversion", "<sip:+12025550160@h"], ["Diversion", "<sip:a@h>"])).toEqual([
      { user: "a", reason: "unknown" }
    ])
    expect(of()).toEqual([])
  })

  const history = "<sip:+12025550160@h>;index=1, <sip:+12025550161@h;cause=302>;index=1.1;mp=1"
  it("are those of History-Info where there is no Diversion", () => {
    expect(of(["History-Info", history])).toEqual([{ user: "+12025550160", reason: "unconditional" }])
    expect(of(["History-Info", history], ["Diversion", "<sip:a@h>"])).toEqual([{ user: "a", reason: "unknown" }])
    expect(
      of(
        ["History-Info", "<sip:+12025550160@h?Reason=SIP%3Bcause%3D486%3Btext%3D%22Busy%22>;index=1"],
        ["History-Info", "<sip:+12025550161@h;cause=408>;index=1.1"],
        ["History-Info", "<sip:+12025550162@192.0.2.1>;index=1.1.1;mp=1.1"],
        ["History-Info", "<sip:+12025550162@192.0.2.2>;index=1.1.1.1;rc=1.1.1"]
      )
    ).toEqual([
      { user: "+12025550161", reason: "unknown" },
      { user: "+12025550160", reason: "no_answer" }
    ])
  })

  it("are none where the call only went from hop to hop", () => {
    expect(of(["History-Info", "<sip:+12025550160@a>;index=1, <sip:+12025550160@b>;index=1.1;rc=1"])).toEqual([])
  })

  it("keep the party that is withheld: by its own parameter, by its entry, or by the call", () => {
    const diverted: Header = ["Diversion", "<sip:+12025550160@h>;reason=away"]
    const hidden = [{ user: null, reason: "away" }]
    expect(of(["Diversion", "<sip:+12025550160@h>;reason=away;privacy=full"])).toEqual(hidden)
    expect(of(["Diversion", "<sip:+12025550160@h>;reason=away;privacy=name"])).toEqual(of(diverted))
    for (const level of ["history", "header", "session"]) expect(of(diverted, ["Privacy", level])).toEqual(hidden)
    expect(of(diverted, ["Privacy", "id"])).toEqual(of(diverted))
    expect(of(["History-Info", "<sip:+12025550160@h?Privacy=history>;index=1, <sip:a@h;cause=302>;index=1.1"])).toEqual(
      [{ user: null, reason: "unconditional" }]
    )
  })

  it("are ten at most, the last ones", () => {
    const many = Array.from({ length: 12 }, (_, index): Header => ["Diversion", `<sip:${index}@h>`])
    expect(of(...many).map(({ user }) => user)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"])
  })
})
