import { createSocket } from "node:dgram"
import { assert, describe, it } from "@effect/vitest"
import type { PacketSocket } from "../../../src/media/PacketPort.ts"
import * as UdpPorts from "../../../src/media/udp/UdpPorts.ts"

const portsFrom = (portMin: number, portMax: number, first = 0) =>
  UdpPorts.make({ bindAddress: "127.0.0.1", portMin, portMax, random: () => first })

const open = (ports: ReturnType<typeof UdpPorts.make>, got: Array<string> = []) =>
  new Promise<PacketSocket | null>((resolve) =>
    ports.open((channel, bytes, from) => void got.push(`${channel} ${bytes.length} from ${from.port}`), resolve)
  )

describe("UDP port pairs", () => {
  it("are even and odd, inside the range, and none twice", async () => {
    const ports = portsFrom(43_001, 43_006, 1)
    const opened = await Promise.all([open(ports), open(ports), open(ports)])
    assert.deepStrictEqual(
      opened.map((socket) => socket?.port ?? null),
      [43_004, 43_002, null]
    )
    for (const socket of opened) socket?.close()
    assert.strictEqual(ports.taken(), 0)
    const again = await open(ports)
    assert.strictEqual(again?.port, 43_004)
    again?.close()
  })

  it.each([
    [43_010, 43_010],
    [43_011, 43_012],
    [43_020, 43_010]
  ])("there are none between %i and %i", async (min, max) => {
    assert.isNull(await open(portsFrom(min, max)))
  })

  it("pass over ports that another program holds", async () => {
    const held = createSocket("udp4")
    await new Promise<void>((resolve) => held.bind(43_031, "127.0.0.1", resolve))
    const ports = portsFrom(43_030, 43_033)
    const socket = await open(ports)
    assert.strictEqual(socket?.port, 43_032)
    assert.isNull(await open(ports))
    socket?.close()
    held.close()
  })

  it("carry both channels, and survive addresses that make no sense", async () => {
    const ports = portsFrom(43_040, 43_043)
    const got: Array<string> = []
    const [a, b] = [await open(ports), await open(ports, got)]
    assert(a !== null && b !== null)
    a.send("rtp", new Uint8Array(3), { address: "127.0.0.1", port: 70_000 })
    a.send("rtp", new Uint8Array(3), { address: "not an address", port: 5 })
    a.send("rtp", new Uint8Array(3), { address: "::1", port: 5 })
    a.send("rtp", new Uint8Array(3), { address: "127.0.0.1", port: b.port })
    a.send("rtcp", new Uint8Array(4), { address: "127.0.0.1", port: b.port + 1 })
    while (got.length < 2) await new Promise((resolve) => setImmediate(resolve))
    assert.sameMembers(got, [`rtp 3 from ${a.port}`, `rtcp 4 from ${a.port + 1}`])
    assert.isAtLeast(ports.errors(), 1)
    a.close()
    b.close()
  })
})
