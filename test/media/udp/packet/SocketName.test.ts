import { describe, expect, it } from "@effect/vitest"
import * as SocketName from "../../../../src/media/udp/packet/SocketName.ts"

const nameOf = (address: string, port = 0x1234) => {
  const name = SocketName.make({ address, port }, (interfaceName) => (interfaceName === "eth0.100" ? 7 : 0))
  return name === null ? null : Buffer.from(name).toString("hex")
}

const ipv6 = "0a00123400000000"

describe("The name of a socket", () => {
  // netinet/in.h and linux/in6.h: family, port, (flow,) address, (interface).
  it.each([
    ["203.0.113.9", "02001234cb0071090000000000000000"],
    ["0.0.0.0", "02001234000000000000000000000000"],
    ["::", `${ipv6}${"0".repeat(32)}00000000`],
    ["2001:db8::A:1", `${ipv6}20010db80000000000000000000a000100000000`],
    ["::ffff:203.0.113.9", `${ipv6}00000000000000000000ffffcb00710900000000`],
    ["fe80::1%eth0.100", `${ipv6}fe80000000000000000000000000000107000000`],
    ["fe80::1%2", `${ipv6}fe80000000000000000000000000000102000000`],
    ["fe80::1%gone", `${ipv6}fe80000000000000000000000000000100000000`]
  ])("of %s lies as the kernel has it", (address, bytes) => expect(nameOf(address)).toBe(bytes))

  it.each(["203.0.113.9", "0.0.0.0", "2001:db8::a:1", "::1", "fe80::1%eth0.100"])("of %s is read back", (address) => {
    const name = SocketName.make({ address, port: 4000 }, () => 7) ?? expect.unreachable("no name")
    const buffer = SocketName.buffer()
    buffer.bytes.set(name)
    buffer.length[0] = name.length
    expect(SocketName.read(buffer, (index) => (index === 7 ? "eth0.100" : null))).toEqual({ address, port: 4000 })
  })

  it("is that of IPv4 where a socket of both families was sent it, and a number where an interface has no name", () => {
    const read = (address: string) => {
      const name = SocketName.make({ address, port: 1 }, () => 7) ?? expect.unreachable("no name")
      const buffer = SocketName.buffer()
      buffer.bytes.set(name)
      buffer.length[0] = name.length
      return SocketName.read(buffer, () => null).address
    }
    expect(["::ffff:203.0.113.9", "fe80::1%gone"].map(read)).toEqual(["203.0.113.9", "fe80::1%7"])
  })

  it("is kept while it is the same", () => {
    const [name, kept] = [SocketName.buffer(), SocketName.buffer()]
    name.length[0] = 16
    name.bytes[5] = 9
    expect([SocketName.keep(name, kept), SocketName.keep(name, kept)]).toEqual([true, false])
    name.bytes[15] = 1
    expect([SocketName.keep(name, kept), SocketName.keep(name, kept)]).toEqual([true, false])
    name.length[0] = 28
    expect([SocketName.keep(name, kept), SocketName.keep(name, kept)]).toEqual([true, false])
  })

  it.each(["", "localhost", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x7f.0.0.1", "1.2.3.256", "1::2::3", "[::1]", "%eth0"])(
    "there is none of %j",
    (address) => expect(nameOf(address)).toBeNull()
  )

  it.each([-1, 65_536, 1.5, NaN])("there is none with port %d", (port) => expect(nameOf("127.0.0.1", port)).toBeNull())
})
