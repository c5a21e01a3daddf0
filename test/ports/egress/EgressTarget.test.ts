import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as EgressTarget from "../../../src/ports/egress/EgressTarget.ts"

const rows: ReadonlyArray<readonly [EgressTarget.AddressKind, ReadonlyArray<string>]> = [
  ["public", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450::1"]],
  ["loopback", ["127.0.0.1", "127.255.255.254", "::1"]],
  ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"]],
  ["shared", ["100.64.0.1", "100.127.255.255"]],
  ["link_local", ["169.254.169.254", "fe80::1", "febf::1"]],
  ["unspecified", ["0.0.0.0", "0.1.2.3", "::"]],
  ["multicast", ["224.0.0.1", "239.255.255.250", "ff02::1"]],
  ["reserved", ["192.0.0.8", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "240.0.0.1", "255.255.255.255"]],
  ["reserved", ["192.88.99.1", "2001:db8::1", "3fff::1", "100::1", "fec0::1", "5f00::1", "4000::1", "2001:2::1"]],
  // Tunnels and translations, whose owners choose the address that they lead to.
  [
    "reserved",
    ["2002:7f00:1::", "2001:0:7f00:1::", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "::127.0.0.1", "::7f00:1"]
  ],
  // Other notations of an IPv4 address.
  ["loopback", ["::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1"]],
  ["private", ["::ffff:10.0.0.1", "64:ff9b::a00:1"]],
  ["link_local", ["::ffff:169.254.169.254"]],
  ["public", ["::ffff:8.8.8.8", "64:ff9b::808:808"]],
  ["not_an_address", ["", "example.com", "[::1]", "1.2.3.4.5", "256.1.1.1"]]
]

describe("the kind of an IP address, RFC 6890", () => {
  for (const [kind, addresses] of rows)
    it.each(addresses)(`%s is ${kind}`, (address) => {
      expect(EgressTarget.classify(address)).toBe(kind)
    })
})

const reason = (url: string, rules = EgressTarget.publicOnly) =>
  Result.match(EgressTarget.parse(url, rules), { onSuccess: () => "accepted", onFailure: ({ reason }) => reason })

describe("what is refused of a URL without the network", () => {
  it.each(["https://example.com", "https://example.com:8443/a?b=c", "https://bücher.example/", "https://8.8.8.8/x"])(
    "accepts %s",
    (url) => {
      expect(reason(url)).toBe("accepted")
      expect(EgressTarget.refuse(url, EgressTarget.publicOnly)).toBeNull()
    }
  )

  it.each([
    ["http://example.com/", "must begin with https://"],
    ["ftp://example.com/", "must begin with https://"],
    ["javascript:alert(1)", "must begin with https://"],
    ["https://user@example.com/", "must not carry a user name or password"],
    ["https://user:secret@example.com/", "must not carry a user name or password"],
    ["https://", "is not a valid URL"],
    ["https:example.com", "is not a valid URL"],
    ["https:///example.com", "is not a valid URL"],
    ["/relative", "is not a valid URL"],
    ["", "is not a valid URL"],
    ["https://exam ple.com/", "is not a valid URL"],
    [" https://example.com/", "is not a valid URL"],
    ["ht\ntps://example.com/", "is not a valid URL"],
    ["https:\\\\example.com\\", "is not a valid URL"],
    ["https://example.com:65536/", "is not a valid URL"],
    ["https://example.com:0/", "has no usable port"],
    ["https://a..b/", "has no valid host"],
    [`https://example.com/${"a".repeat(2048)}`, "is longer than 2048 characters"]
  ])("refuses %s: %s", (url, detail) => {
    expect(reason(url)).toBe("invalid_url")
    expect(EgressTarget.refuse(url, EgressTarget.publicOnly)).toBe(detail)
  })

  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.0.0.1./",
    "https://１２７.0.0.1/",
    "https://①②⑦.0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://0/",
    "https://10.0.0.1:8443/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]:443/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[2002:7f00:1::]/"
  ])("blocks the address in %s", (url) => {
    expect(EgressTarget.refuse(url, EgressTarget.publicOnly)).toBe("points to a private or reserved address")
    expect(reason(url)).toBe("blocked")
  })

  it.each([
    "https://localhost/",
    "https://LOCALHOST./",
    "https://ⓛocalhost/",
    "https://api.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://router.home.arpa/",
    "https://postgres/"
  ])("blocks the local name in %s", (url) => {
    expect(EgressTarget.refuse(url, EgressTarget.publicOnly)).toBe("points to a local name")
  })

  it("where private targets are allowed, still wants https and refuses what is no host of one's own", () => {
    expect(reason("https://localhost:8443/", EgressTarget.privateToo)).toBe("accepted")
    expect(reason("https://10.1.2.3/", EgressTarget.privateToo)).toBe("accepted")
    expect(reason("https://[fd00::1]/", EgressTarget.privateToo)).toBe("accepted")
    expect(reason("http://localhost/", EgressTarget.privateToo)).toBe("invalid_url")
    expect(reason("https://169.254.169.254/", EgressTarget.privateToo)).toBe("blocked")
    expect(reason("https://0.0.0.0/", EgressTarget.privateToo)).toBe("blocked")
    expect(reason("https://224.0.0.1/", EgressTarget.privateToo)).toBe("blocked")
  })

  it("takes wss only where it is listed", () => {
    expect(EgressTarget.refuse("wss://example.com/", EgressTarget.publicOnly)).toBe("must begin with https://")
    expect(EgressTarget.refuse("wss://example.com/", EgressTarget.publicOnly, ["wss:"])).toBeNull()
    expect(EgressTarget.refuse("ftp://example.com/", EgressTarget.publicOnly, ["https:", "wss:"])).toBe(
      "must begin with https:// or wss://"
    )
  })

  it("gives the host as a connection wants it", () => {
    const literal = EgressTarget.parse("https://[2606:4700::1]:8443/a%20b?c#d", EgressTarget.publicOnly)
    expect(Result.getOrThrow(literal)).toStrictEqual({
      scheme: "https:",
      host: "2606:4700::1",
      port: 8443,
      path: "/a%20b?c",
      href: "https://[2606:4700::1]:8443/a%20b?c#d"
    })
    const named = EgressTarget.parse("https://Example.COM./", EgressTarget.publicOnly)
    expect(Result.getOrThrow(named)).toMatchObject({ host: "example.com", port: 443, path: "/" })
  })

  it.prop("never throws, and refuses nothing without a word", { url: Schema.String }, ({ url }) => {
    const text = EgressTarget.refuse(`https://${url}`, EgressTarget.publicOnly)
    expect(text === null || text.length > 0).toBe(true)
  })
})
