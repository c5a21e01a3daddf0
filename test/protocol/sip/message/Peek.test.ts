import { describe, expect, it } from "@effect/vitest"
import * as Peek from "../../../../src/protocol/sip/message/Peek.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a look at a datagram", () => {
  for (const [what, text, callId] of [
    ["in full", "BYE sip:a SIP/2.0\r\nCall-ID: a@b\r\n\r\n", "a@b"],
    ["in its compact form", "BYE sip:a SIP/2.0\r\ni:a@b \r\n\r\n", "a@b"],
    ["in another case, behind blanks", "SIP/2.0 200 OK\nCALL-id \t:\t a@b\n\n", "a@b"],
    ["nowhere", "BYE sip:a SIP/2.0\r\nX-Call-ID: a@b\r\n\r\n", null],
    ["too far behind", `BYE sip:a SIP/2.0\r\nX: ${"x".repeat(2_048)}\r\nCall-ID: a@b\r\n\r\n`, null]
  ] as const)
    it(`finds the Call-ID ${what}`, () => expect(Peek.callId(bytes(text))).toBe(callId))

  it("tells what cannot be SIP by the first byte", () => {
    expect(["INVITE", "SIP/2.0 200", "invite"].map((text) => Peek.isText(bytes(text)))).toEqual([true, true, true])
    expect(["", "\r\n", "\0", "\u0080", "[x]"].map((text) => Peek.isText(bytes(text)))).toEqual(Array(5).fill(false))
  })
})
