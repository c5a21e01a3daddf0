import { describe, expect, it } from "@effect/vitest"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"

describe("an address", () => {
  const spellings: ReadonlyArray<readonly [address: string, canonical: string | null]> = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:DB8:0:0::4", "2001:db8::4"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["sip.example.net", null],
    ["[::1]", null],
    ["1.2.3", null],
    ["0x7f.1", null],
    ["", null]
  ]
  for (const [address, canonical] of spellings)
    it(`spells ${address} as ${canonical ?? "no address"}`, () => {
      expect(IpAddress.canonical(address)).toBe(canonical)
    })

  it("is a host in brackets where it is IPv6", () => {
    expect([IpAddress.host("192.0.2.1"), IpAddress.host("2001:db8::1")]).toEqual(["192.0.2.1", "[2001:db8::1]"])
  })
})

describe("a socket", () => {
  const cases: ReadonlyArray<readonly [bound: string, peer: string, named: string | null]> = [
    ["0.0.0.0", "192.0.2.1", "192.0.2.1"],
    ["0.0.0.0", "2001:db8::1", null],
    ["2001:db8::2", "2001:db8::1", "2001:db8::1"],
    ["2001:db8::2", "192.0.2.1", null],
    ["::", "2001:db8::1", "2001:db8::1"],
    ["::", "192.0.2.1", "::ffff:192.0.2.1"]
  ]
  for (const [bound, peer, named] of cases)
    it(`on ${bound} ${named === null ? "does not reach" : `reaches, as ${named},`} ${peer}`, () => {
      expect(IpAddress.reaches(bound, IpAddress.family(peer))).toBe(named !== null)
      if (named !== null) expect(IpAddress.named(bound, peer)).toBe(named)
    })
})

describe("Whoever is counted", () => {
  it("is an IPv4 address, mapped or not, or the /64 of an IPv6 one", () => {
    expect(IpAddress.subscriber("192.0.2.1")).toBe("192.0.2.1")
    expect(IpAddress.subscriber("::ffff:192.0.2.1")).toBe("192.0.2.1")
    expect(IpAddress.subscriber("2001:db8:1:2:3:4:5:6")).toBe(IpAddress.subscriber("2001:db8:1:2::1"))
    expect(IpAddress.subscriber("2001:db8:1:3::1")).not.toBe(IpAddress.subscriber("2001:db8:1:2::1"))
    expect(IpAddress.subscriber(null)).toBe("unknown")
    expect(IpAddress.site("2001:db8:1:3::1")).toBe(IpAddress.site("2001:db8:1:2::1"))
    expect(IpAddress.site("2001:db8:2::1")).not.toBe(IpAddress.site("2001:db8:1::1"))
    expect(IpAddress.site("::ffff:192.0.2.1")).toBe("192.0.2.1")
  })
})
