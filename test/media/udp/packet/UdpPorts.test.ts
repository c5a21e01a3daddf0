import { createSocket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import type { PacketSocket } from "../../../../src/media/rtp/PacketPort.ts"
import * as Descriptors from "../../../../src/media/udp/packet/Descriptors.ts"
import * as PacketIo from "../../../../src/media/udp/packet/PacketIo.ts"
import * as UdpPorts from "../../../../src/media/udp/packet/UdpPorts.ts"

const local = "127.0.0.1"

/** Lets Node handle received data until a condition holds; only the test's timeout limits it. */
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** Both kinds of sockets have port ranges of their own and are tested at once. */
const ways = await Promise.all(
  PacketIo.all.map(async (io, index) => ({
    io,
    base: 43_000 + 200 * index,
    ...(await PacketIo.choose(io, { descriptors: Descriptors.make(), patience: () => 10 }))
  }))
)

for (const { base, chosen, io, sockets } of ways)
  describe.skipIf(chosen.io !== io)(`UDP port pairs by ${io}`, () => {
    const portsFrom = (first: number, last: number, random = 0, bindAddress = local) =>
      UdpPorts.make({ bindAddress, portMin: base + first, portMax: base + last, random: () => random, sockets })

    const open = (ports: ReturnType<typeof UdpPorts.make>, got: Array<string> = []) =>
      new Promise<PacketSocket | null>((resolve) =>
        ports.open((channel, bytes, from) => void got.push(`${channel} ${bytes.join(",")} from ${from.port}`), resolve)
      )

    /**
     * Two pairs of a range, the datagrams that the second has received, and the destination from the first to the
     * second.
     */
    const pairs = async (first: number) => {
      const ports = portsFrom(first, first + 3)
      const got: Array<string> = []
      const [a, b] = [await open(ports), await open(ports, got)]
      if (a === null || b === null) return expect.unreachable("no ports")
      const to = a.prepare("rtp", { address: local, port: b.port })
      return { ports, got, a, b, to, close: () => [a, b].forEach((socket) => socket.close()) }
    }

    it("are even and odd, inside the range, and none twice", async () => {
      const ports = portsFrom(1, 6, 1)
      const opened = await Promise.all([open(ports), open(ports), open(ports)])
      expect(opened.map((socket) => socket?.port ?? null)).toStrictEqual([base + 4, base + 2, null])
      for (const socket of opened) socket?.close()
      expect(ports.taken()).toBe(0)
      const again = await open(ports)
      expect(again?.port).toBe(base + 4)
      again?.close()
    })

    it.each([
      [10, 10],
      [11, 12],
      [20, 10]
    ])("there are none between %i and %i", async (min, max) => {
      expect(await open(portsFrom(min, max))).toBeNull()
    })

    it.each([
      ["RTP", 31],
      ["RTCP", 30]
    ])("pass over a pair whose port for %s another program holds", async (_, at) => {
      const held = createSocket("udp4")
      await new Promise<void>((resolve) => held.bind(base + at, local, resolve))
      const ports = portsFrom(30, 33)
      const socket = await open(ports)
      expect(socket?.port).toBe(base + 32)
      expect(await open(ports)).toBeNull()
      socket?.close()
      held.close()
    })

    it("are shared with nobody, not even with one that would share", async () => {
      const socket = await open(portsFrom(36, 37))
      const outcomes = [base + 36, base + 37].map(
        (port) =>
          new Promise<string>((resolve) => {
            const other = createSocket({ type: "udp4", reuseAddr: true })
            const done = (outcome: string) => {
              other.close()
              resolve(outcome)
            }
            other.once("error", (error) => done("code" in error ? String(error.code) : error.message))
            other.bind(port, local, () => done("shared"))
          })
      )
      expect(await Promise.all(outcomes)).toEqual(["EADDRINUSE", "EADDRINUSE"])
      socket?.close()
    })

    for (const [host, address] of [
      ["0.0.0.0", local],
      ["::", local],
      ["::", "::1"],
      ["::1", "::1"]
    ] as const)
      it(`on ${host} reach ${address} and are told of it so`, async () => {
        const [a, b] = await Promise.all(
          [host, address].map(async (bindAddress) => {
            const got: Array<string> = []
            const ports = portsFrom(60, 79, 0, bindAddress)
            const socket = await new Promise<PacketSocket | null>((resolve) =>
              ports.open((_, bytes, from) => void got.push(`${bytes.length} from ${from.address}`), resolve)
            )
            return { got, socket }
          })
        )
        if (a?.socket == null || b?.socket == null) return expect.unreachable("no ports")
        a.socket.prepare("rtp", { address, port: b.socket.port }).send(new Uint8Array(3))
        b.socket.prepare("rtp", { address, port: a.socket.port }).send(new Uint8Array(4))
        await until(() => a.got.length + b.got.length >= 2)
        expect([a.got, b.got]).toEqual([[`4 from ${address}`], [`3 from ${address}`]])
        a.socket.close()
        b.socket.close()
      })

    it("there are none on an address of another machine", async () => {
      expect(await open(portsFrom(80, 83, 0, "203.0.113.1"))).toBeNull()
      expect(await open(portsFrom(80, 83, 0, "2001:db8::1"))).toBeNull()
    })

    it("carry both channels, and survive addresses that make no sense", async () => {
      const { a, b, close, got, ports, to } = await pairs(40)
      for (const address of ["not an address", "::1"]) a.prepare("rtp", { address, port: 5 }).send(new Uint8Array(3))
      for (const port of [0, 70_000]) a.prepare("rtp", { address: local, port }).give(new Uint8Array(3))
      expect(ports.errors()).toBe(4)
      to.send(Uint8Array.of(1, 2, 3))
      to.give(Uint8Array.of(5, 6))
      a.prepare("rtcp", { address: local, port: b.port + 1 }).send(new Uint8Array(9), 4)
      await until(() => got.length >= 3)
      expect(got.sort()).toEqual([
        `rtcp 0,0,0,0 from ${a.port + 1}`,
        `rtp 1,2,3 from ${a.port}`,
        `rtp 5,6 from ${a.port}`
      ])
      expect(ports.errors()).toBe(4)
      close()
    })

    it("send on what is sent in a burst, in order, each as it was when it was sent", async () => {
      const { close, got, ports, to } = await pairs(44)
      const packet = new Uint8Array(400)
      const lengths = [3, 5, 400, 3, 1]
      for (const round of [0, 10]) {
        for (const [i, length] of lengths.entries()) {
          packet.fill(round + i)
          to.send(packet, length)
          packet.fill(0xee)
        }
        await until(() => got.length >= round / 2 + 5)
      }
      expect(got.map((line) => line.replace(/ from .*/, ""))).toEqual(
        [0, 10].flatMap((round) =>
          lengths.map((length, i) => `rtp ${new Uint8Array(length).fill(round + i).join(",")}`)
        )
      )
      expect(ports.errors()).toBe(0)
      close()
    })

    it("count what the network refuses: no way there, too large; and send on afterwards", async () => {
      const { a, close, got, ports, to } = await pairs(50)
      a.prepare("rtp", { address: "203.0.113.1", port: 9 }).send(new Uint8Array(3))
      await until(() => ports.errors() >= 1)
      to.send(new Uint8Array(70_000))
      await until(() => ports.errors() >= 2)
      to.send(Uint8Array.of(7))
      await until(() => got.length > 0)
      expect(got).toEqual([`rtp 7 from ${a.port}`])
      expect(ports.errors()).toBe(2)
      close()
    })

    it("hear nothing of a peer whose port is closed", async () => {
      const { a, b, close, got, ports, to } = await pairs(56)
      const nobody = a.prepare("rtp", { address: local, port: b.port + 2 })
      for (let value = 0; value < 3; value++) {
        nobody.send(Uint8Array.of(9))
        to.send(Uint8Array.of(value))
        await until(() => got.length > value)
      }
      expect([got.length, ports.errors()]).toEqual([3, 0])
      close()
    })

    it("send nothing by a pair that is closed, whoever has its descriptors now", async () => {
      const { a, b, got, ports, to } = await pairs(90)
      const control = a.prepare("rtcp", { address: local, port: b.port + 1 })
      a.close()
      // The system gives the numbers of closed descriptors to the next ones.
      const next = await open(ports)
      for (const stale of [to, control]) {
        stale.send(Uint8Array.of(66))
        stale.give(Uint8Array.of(66))
      }
      expect(ports.errors()).toBe(4)
      for (const channel of ["rtp", "rtcp"] as const)
        next?.prepare(channel, { address: local, port: b.port + (channel === "rtp" ? 0 : 1) }).send(Uint8Array.of(1))
      await until(() => got.length >= 2)
      expect(got.sort()).toEqual([`rtcp 1 from ${(next?.port ?? 0) + 1}`, `rtp 1 from ${next?.port}`])
      next?.close()
      b.close()
    })

    it("are not heard once they are closed, though what they were sent is there already", async () => {
      const ports = portsFrom(100, 105)
      const heard: Array<string> = []
      const opened = (name: string, others: () => ReadonlyArray<PacketSocket | null>) =>
        new Promise<PacketSocket | null>((resolve) =>
          ports.open(() => {
            heard.push(name)
            for (const other of others()) other?.close()
          }, resolve)
        )
      const from = await open(ports)
      const one: PacketSocket | null = await opened("one", () => [other])
      const other: PacketSocket | null = await opened("other", () => [one])
      for (const to of [one, other])
        from?.prepare("rtp", { address: local, port: to?.port ?? 0 }).send(Uint8Array.of(1))
      await until(() => heard.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect(heard).toHaveLength(1)
      from?.close()
      ;(heard[0] === "one" ? one : other)?.close()
    })

    it("keep no timer of the thread waiting for long", async () => {
      const pair = await open(portsFrom(106, 107))
      for (let times = 0; times < 5; times++) await new Promise((resolve) => setTimeout(resolve, 1))
      pair?.close()
    })

    it("lend nothing that the next datagram is written over", async () => {
      const { close, to, ports } = await pairs(110)
      close()
      const kept: Array<Uint8Array> = []
      const [a, b] = [
        await open(ports),
        await new Promise<PacketSocket | null>((resolve) => ports.open((_, bytes) => void kept.push(bytes), resolve))
      ]
      expect(to.address.port).toBe(b?.port)
      const way = a?.prepare("rtp", { address: local, port: b?.port ?? 0 })
      const lengths = [172, 3000, 1, 0, 60_000, ...Array.from({ length: 400 }, () => 172)]
      for (const [index, length] of lengths.entries()) {
        way?.send(new Uint8Array(length).fill(index))
        await until(() => kept.length > index)
      }
      expect(kept.map((bytes) => bytes.length)).toEqual(lengths)
      expect(kept.every((bytes, index) => bytes.every((octet) => octet === (index & 255)))).toBe(true)
      a?.close()
      b?.close()
    })

    it("are free again, and heard no more, as soon as they are closed", async () => {
      const { a, b, got, ports, to } = await pairs(94)
      b.close()
      const heard: Array<string> = []
      const again = await open(ports, heard)
      expect(again?.port).toBe(b.port)
      to.send(Uint8Array.of(3))
      await until(() => heard.length > 0)
      expect([heard, got]).toEqual([[`rtp 3 from ${a.port}`], []])
      a.close()
      again?.close()
    })
  })
