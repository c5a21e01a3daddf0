import { describe, expect, it } from "@effect/vitest"
import * as Descriptors from "../../../../src/media/udp/packet/Descriptors.ts"
import * as KernelSockets from "../../../../src/media/udp/packet/KernelSockets.ts"
import * as Libc from "../../../../src/media/udp/packet/Libc.ts"
import * as NodeSockets from "../../../../src/media/udp/packet/NodeSockets.ts"
import * as PacketIo from "../../../../src/media/udp/packet/PacketIo.ts"
import * as SocketName from "../../../../src/media/udp/packet/SocketName.ts"

const options = { descriptors: Descriptors.make(), patience: () => 10 }
const hasKernelCalls = process.platform === "linux" && ["x64", "arm64"].includes(process.arch)
/** Records calls, and answers each with `answer`. */
const recorded = (answer: number) => {
  const made: Array<string> = []
  const libc = Libc.load({
    platform: "linux",
    arch: "x64",
    koffi: () => ({
      load: () => ({
        func: (prototype) => () => {
          made.push(/(\w+)\(/.exec(prototype)?.[1] ?? prototype)
          return answer
        }
      })
    })
  })
  return libc.type === "loaded" ? { made, libc } : expect.unreachable(libc.why)
}
const broken = (): never => {
  throw new Error("Cannot find the native Koffi module\ndid you bundle it correctly?")
}

describe("How packets leave", () => {
  it.runIf(hasKernelCalls)("is by calls of the kernel on this machine", async () => {
    expect((await PacketIo.choose("kernel", options)).chosen).toEqual({ io: "kernel", why: null, isFault: false })
  })

  it("is by sockets of Node where that is wanted, and then nothing native is loaded", async () => {
    const { chosen, sockets } = await PacketIo.choose("node", { ...options, load: broken })
    expect([chosen, sockets]).toEqual([{ io: "node", why: null, isFault: false }, NodeSockets.make])
  })

  it.each([
    ["darwin", "arm64"],
    ["linux", "s390x"]
  ])("is by sockets of Node on %s %s, as it has to be", async (platform, arch) => {
    const { chosen, sockets } = await PacketIo.choose("kernel", {
      ...options,
      load: () => Libc.load({ platform, arch, koffi: broken })
    })
    expect(chosen).toEqual({ io: "node", why: `no kernel calls on ${platform} ${arch}`, isFault: false })
    expect(sockets).toBe(NodeSockets.make)
  })

  const missing = { load: () => ({ func: () => broken() }) }
  it.each([
    ["is not there", broken],
    ["does not find a function", () => missing]
  ])("is by sockets of Node where koffi %s, and a fault in one line", async (_, koffi) => {
    const { chosen, sockets } = await PacketIo.choose("kernel", {
      ...options,
      load: () => Libc.load({ platform: "linux", arch: "x64", koffi })
    })
    const why = "koffi did not load: Cannot find the native Koffi module"
    expect(chosen).toEqual({ io: "node", why, isFault: true })
    expect(sockets).toBe(NodeSockets.make)
  })
})

describe("A call of the kernel", () => {
  const name = SocketName.make({ address: "127.0.0.1", port: 9 }, () => 0) ?? expect.unreachable("no name")

  it("is not made for a length that its bytes do not have", () => {
    const { libc, made } = recorded(4)
    for (const length of [5, -1, 1.5, NaN, Infinity, 2 ** 32])
      expect(libc.send(9, new Uint8Array(4), length, name)).toBe(false)
    expect(libc.send(-1, new Uint8Array(4), 4, name)).toBe(false)
    expect(made).toEqual([])
    expect(libc.send(9, new Uint8Array(4), 4, name)).toBe(true)
    expect(made).toEqual(["sendto"])
  })

  it("leaves no descriptor behind when the port is not to be had", () => {
    const { libc, made } = recorded(5)
    expect(libc.open(name)).toBeNull()
    expect(made).toEqual(["socket", "bind", "close"])
  })

  it("that fails is a datagram that was not sent", () => {
    const { libc } = recorded(-1)
    expect(libc.send(9, new Uint8Array(4), 4, name)).toBe(false)
    let failures = 0
    const failed = () => {
      failures++
    }
    const descriptors = Descriptors.make()
    const receiver = { add: () => null }
    KernelSockets.make({ libc, receiver, descriptors })({ bindAddress: "127.0.0.1", failed })(4000, (socket) =>
      expect(socket).toBeNull()
    )
    expect(failures).toBe(0)
  })
})
