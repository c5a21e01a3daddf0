import { createSocket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import type { PacketSocket } from "../../../src/media/rtp/PacketPort.ts"
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
    expect(opened.map((socket) => socket?.port ?? null)).toStrictEqual([43_004, 43_002, null])
    for (const socket of opened) socket?.close()
    expect(ports.taken()).toBe(0)
    const again = await open(ports)
    expect(again?.port).toBe(43_004)
    again?.close()
  })

  it.each([
    [43_010, 43_010],
    [43_011, 43_012],
    [43_020, 43_010]
  ])("there are none between %i and %i", async (min, max) => {
    expect(await open(portsFrom(min, max))).toBeNull()
  })

  it("pass over ports that another program holds", async () => {
    const held = createSocket("udp4")
    await new Promise<void>((resolve) => held.bind(43_031, "127.0.0.1", resolve))
    const ports = portsFrom(43_030, 43_033)
    const socket = await open(ports)
    expect(socket?.port).toBe(43_032)
    expect(await open(ports)).toBeNull()
    socket?.close()
    held.close()
  })

  for (const [host, address] of [
    ["::", "127.0.0.1"],
    ["::", "::1"],
    ["::1", "::1"]
  ] as const)
    it(`on ${host} reach ${address} and are told of it so`, async () => {
      const [a, b] = await Promise.all(
        [host, address].map(async (bindAddress) => {
          const got: Array<string> = []
          const ports = UdpPorts.make({ bindAddress, portMin: 43_060, portMax: 43_079, random: () => got.length })
          const socket = await new Promise<PacketSocket | null>((resolve) =>
            ports.open((_, bytes, from) => void got.push(`${bytes.length} from ${from.address}`), resolve)
          )
          return { got, socket }
        })
      )
      if (a?.socket == null || b?.socket == null) return expect.fail("no ports")
      a.socket.prepare("rtp", { address, port: b.socket.port }).send(new Uint8Array(3))
      b.socket.prepare("rtp", { address, port: a.socket.port }).send(new Uint8Array(4))
      while (a.got.length + b.got.length < 2) await new Promise((resolve) => setImmediate(resolve))
      expect([a.got, b.got]).toEqual([[`4 from ${address}`], [`3 from ${address}`]])
      a.socket.close()
      b.socket.close()
    })

  it("carry both channels, and survive addresses that make no sense", async () => {
    const ports = portsFrom(43_040, 43_043)
    const got: Array<string> = []
    const [a, b] = [await open(ports), await open(ports, got)]
    if (a === null || b === null) return expect.fail("no ports")
    for (const address of ["not an address", "::1"]) a.prepare("rtp", { address, port: 5 }).send(new Uint8Array(3))
    for (const port of [0, 70_000]) a.prepare("rtp", { address: "127.0.0.1", port }).send(new Uint8Array(3))
    expect(ports.errors()).toBe(4)
    a.prepare("rtp", { address: "127.0.0.1", port: b.port }).send(new Uint8Array(3))
    a.prepare("rtcp", { address: "127.0.0.1", port: b.port + 1 }).send(new Uint8Array(9), 4)
    while (got.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(got.sort()).toEqual([`rtcp 4 from ${a.port + 1}`, `rtp 3 from ${a.port}`])
    expect(ports.errors()).toBe(4)
    a.close()
    b.close()
  })
})
