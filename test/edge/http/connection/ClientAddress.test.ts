import { describe, expect, it } from "@effect/vitest"
import { resolve, trusted } from "../../../../src/edge/http/connection/ClientAddress.ts"

describe("ClientAddress.resolve", () => {
  const nobody = trusted("none")
  const proxies = trusted("private")
  const named = trusted(["203.0.113.0/24", "2001:db8::1"])

  it("is the peer when no proxy is trusted, whatever the header says", () => {
    expect(resolve("198.51.100.7", "192.0.2.1", nobody)).toBe("198.51.100.7")
    expect(resolve(null, "192.0.2.1", proxies)).toBeNull()
  })

  it("is the peer when it is no trusted proxy", () => {
    expect(resolve("8.8.8.8", "1.1.1.1", proxies)).toBe("8.8.8.8")
  })

  it("is the right-most hop that is no trusted proxy", () => {
    expect(resolve("10.0.0.1", "1.1.1.1, 8.8.8.8, 10.0.0.2", proxies)).toBe("8.8.8.8")
    expect(resolve("203.0.113.9", "1.1.1.1, 2001:db8::1", named)).toBe("1.1.1.1")
  })

  it("trusts, as private, one's own networks and no others", () => {
    for (const own of [
      "127.0.0.1",
      "::1",
      "10.1.2.3",
      "172.31.0.1",
      "192.168.0.1",
      "fd00::1",
      "169.254.1.1",
      "fe80::1"
    ])
      expect([own, proxies(own)]).toEqual([own, true])
    for (const other of [
      "100.64.0.1",
      "203.0.113.1",
      "0.0.0.0",
      "224.0.0.1",
      "240.0.0.1",
      "2001:db8::1",
      "ff02::1",
      "8.8.8.8"
    ])
      expect([other, proxies(other)]).toEqual([other, false])
  })

  it("is the left-most hop when every one is trusted", () => {
    expect(resolve("10.0.0.1", "10.0.0.3,10.0.0.2", proxies)).toBe("10.0.0.3")
  })

  it("stops at the hop before an entry that is no address", () => {
    expect(resolve("10.0.0.1", "8.8.8.8, unknown, 10.0.0.2", proxies)).toBe("10.0.0.2")
    expect(resolve("10.0.0.1", "", proxies)).toBe("10.0.0.1")
    expect(resolve("10.0.0.1", "2130706433", proxies)).toBe("10.0.0.1")
  })

  it.each([
    ["203.0.113.5:4711", "203.0.113.5"],
    ["203.0.113.5:0", "203.0.113.5"],
    ["[2606:4700::1]:4711", "2606:4700::1"],
    ['"[2606:4700::1]:4711"', "2606:4700::1"],
    ['"203.0.113.5:4711"', "203.0.113.5"],
    ["[::ffff:203.0.113.5]:4711", "203.0.113.5"],
    ["2606:4700:0:0:0:0:0:1:4711", "2606:4700::1"],
    ["2606:4700::1", "2606:4700::1"],
    ["2606:4700::1:4711", "2606:4700::1:4711"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:4711", "fe80::1"],
    ["\t203.0.113.5:4711 ", "203.0.113.5"]
  ])("reads an address however a proxy writes it: %s", (written, address) => {
    expect(resolve("10.0.0.1", written, trusted(["10.0.0.0/8"]))).toBe(address)
    expect(resolve("10.0.0.1", `1.1.1.1, ${written}, 10.0.0.2:80`, trusted(["10.0.0.0/8"]))).toBe(address)
  })

  it.each([
    "203.0.113.5:",
    "203.0.113.5:port",
    "203.0.113.5:123456",
    "203.0.113.5:1:2",
    "[203.0.113.5",
    "[2606:4700::1]4711",
    "[[2606:4700::1]]",
    "0x7f.1",
    "127.1",
    "010.0.0.1",
    "_hidden:80",
    "for=203.0.113.5"
  ])("takes for no address what only resembles one: %s", (written) => {
    expect(resolve("10.0.0.1", `8.8.8.8, ${written}`, proxies)).toBe("10.0.0.1")
  })

  it("takes mapped and bracketed addresses for what they are", () => {
    expect(resolve("::ffff:10.0.0.1", "::ffff:8.8.8.8", proxies)).toBe("8.8.8.8")
    expect(resolve("::1", "[2606:4700::1]", proxies)).toBe("2606:4700::1")
  })
})
