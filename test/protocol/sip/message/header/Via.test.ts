import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as CSeq from "../../../../../src/protocol/sip/message/header/CSeq.ts"
import { emptyBody, header, type SipRequest } from "../../../../../src/protocol/sip/message/SipMessage.ts"
import * as Via from "../../../../../src/protocol/sip/message/header/Via.ts"

const request = (...vias: ReadonlyArray<string>): SipRequest => ({
  type: "request",
  method: "OPTIONS",
  uri: "sip:a",
  headers: vias.map((via) => ["Via", via] as const),
  body: emptyBody
})

const stampedTop = (via: string, address: string, port = 5066) =>
  header(Via.stamped(request(via), { address, port }), "Via")

describe("RFC 3261 section 20.42: Via", () => {
  it("reads and writes", () => {
    const via = Result.getOrThrow(Via.parse("sip / 2.0 / udp  [2001:db8::1] : 5070 ; branch=z9hG4bKa;rport ;ttl=1"))
    expect(via).toStrictEqual({
      transport: "UDP",
      host: "[2001:db8::1]",
      port: 5070,
      params: [
        ["branch", "z9hG4bKa"],
        ["rport", null],
        ["ttl", "1"]
      ]
    })
    expect(Via.format(via)).toBe("SIP/2.0/UDP [2001:db8::1]:5070;branch=z9hG4bKa;rport;ttl=1")
  })

  it.each([
    "",
    "SIP/3.0/UDP a",
    "SIP/2.0/UDP",
    "SIP/2.0/UDP a:0",
    "SIP/2.0/UDP a:99999",
    "SIP/2.0/UDP a b",
    "SIP/2.0/UDP a;",
    "UDP a"
  ])("refuses %j", (value) => expect(Result.isFailure(Via.parse(value))).toBe(true))
})

describe("RFC 3261 section 18.2 and RFC 3581: the way back", () => {
  it("adds received when sent-by is another address", () => {
    expect(stampedTop("SIP/2.0/UDP pc.example.com;branch=b", "192.0.2.1")).toBe(
      "SIP/2.0/UDP pc.example.com;branch=b;received=192.0.2.1"
    )
  })

  it("leaves a Via alone that already tells the truth", () => {
    const untouched = request("SIP/2.0/UDP 192.0.2.1:5060;branch=b")
    expect(Via.stamped(untouched, { address: "192.0.2.1", port: 5066 })).toBe(untouched)
    expect(stampedTop("SIP/2.0/UDP [2001:DB8::1];branch=b", "2001:db8::1")).toBe("SIP/2.0/UDP [2001:DB8::1];branch=b")
  })

  it("knows an IPv6 address however it is spelled, RFC 5118 section 4.5", () => {
    const kept = "SIP/2.0/UDP [2001:DB8:0:0::1];branch=b"
    expect(stampedTop(kept, "2001:db8::1")).toBe(kept)
    expect(stampedTop("SIP/2.0/UDP [::ffff:192.0.2.1];branch=b", "192.0.2.1")).not.toContain("received")
    for (const received of ["2001:DB8::2", "[2001:db8:0::2]"])
      expect(Via.responseTarget(Result.getOrThrow(Via.parse(`SIP/2.0/UDP a;received=${received}`)))).toEqual({
        address: "2001:db8::2",
        port: 5060
      })
  })

  it("fills a requested rport and always adds received with it", () => {
    expect(stampedTop("SIP/2.0/UDP 192.0.2.1;rport;branch=b", "192.0.2.1")).toBe(
      "SIP/2.0/UDP 192.0.2.1;rport=5066;branch=b;received=192.0.2.1"
    )
  })

  it("believes no received or rport that came with the request", () => {
    expect(stampedTop("SIP/2.0/UDP 192.0.2.1;received=203.0.113.9;rport=1;branch=b", "192.0.2.1")).toBe(
      "SIP/2.0/UDP 192.0.2.1;rport=5066;branch=b;received=192.0.2.1"
    )
    expect(stampedTop("SIP/2.0/UDP 192.0.2.1;received=203.0.113.9", "192.0.2.1")).toBe("SIP/2.0/UDP 192.0.2.1")
  })

  it("touches only the topmost of several", () => {
    const stamped = Via.stamped(request("SIP/2.0/UDP a, SIP/2.0/TCP b", "SIP/2.0/UDP c"), {
      address: "192.0.2.1",
      port: 1
    })
    expect(stamped.headers).toStrictEqual([
      ["Via", "SIP/2.0/UDP a;received=192.0.2.1, SIP/2.0/TCP b"],
      ["Via", "SIP/2.0/UDP c"]
    ])
  })

  it.each([
    ["SIP/2.0/UDP 192.0.2.1", "192.0.2.1", 5060],
    ["SIP/2.0/UDP 192.0.2.1:5070", "192.0.2.1", 5070],
    ["SIP/2.0/UDP a:5070;received=192.0.2.9", "192.0.2.9", 5070],
    ["SIP/2.0/UDP a:5070;received=192.0.2.9;rport=6000", "192.0.2.9", 6000],
    ["SIP/2.0/UDP a;maddr=203.0.113.1;received=2001:db8::2", "2001:db8::2", 5060],
    ["SIP/2.0/UDP [2001:db8::1]", "2001:db8::1", 5060]
  ] as const)("answers %s at %s:%s", (value, address, port) =>
    expect(Via.responseTarget(Result.getOrThrow(Via.parse(value)))).toStrictEqual({ address, port })
  )
})

describe("RFC 3261 section 20.16: CSeq", () => {
  it("reads number and method", () => {
    const cseq = Result.getOrThrow(CSeq.parse("0009  INVITE "))
    expect(cseq).toStrictEqual({ sequence: 9, method: "INVITE" })
    expect(Result.isSuccess(CSeq.parse("2147483647 BYE"))).toBe(true)
  })

  it.each(["", "1", "INVITE", "-1 BYE", "2147483648 BYE", "1 BY E", "1 BYE,", "1e3 BYE"])("refuses %j", (value) =>
    expect(Result.isFailure(CSeq.parse(value))).toBe(true)
  )
})
