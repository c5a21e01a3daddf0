import { createSocket, type Socket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import * as Outbox from "../../../../src/media/udp/packet/Outbox.ts"

/** A socket whose kernel takes a datagram only when `take` is called, and reads its bytes only then. */
const slow = () => {
  const raw = createSocket("udp4")
  const taken: Array<ReadonlyArray<number>> = []
  let waiting: Array<{ readonly bytes: Uint8Array; readonly done: (error: Error | null) => void }> = []
  const nobody = () => undefined
  const send = (bytes: Uint8Array, _port: number, _address: string, done: (error: Error | null) => void = nobody) =>
    void waiting.push({ bytes, done })
  let count = 0
  const socket: Socket = Object.assign(raw, { send, getSendQueueCount: () => count })
  const take = (error: Error | null = null) => {
    const due = waiting
    waiting = []
    for (const { bytes, done } of due) {
      if (error === null) taken.push([...bytes])
      done(error)
    }
  }
  /** Sets how many datagrams wait in the socket. */
  const wait = (many: number) => {
    count = many
  }
  return { socket, taken, take, wait }
}

const setup = () => {
  const kernel = slow()
  let failures = 0
  const outbox = Outbox.make(kernel.socket, () => {
    failures++
  })
  const packet = new Uint8Array(400)
  return {
    ...kernel,
    outbox,
    failures: () => failures,
    /** Each datagram is written over the last one. */
    send: (value: number, length: number) => {
      packet.fill(value)
      outbox.send(packet, length, 9, "127.0.0.1")
      packet.fill(0xee)
    }
  }
}

describe("Datagrams that are lent", () => {
  it("leave as they were when they were sent, whatever is written over them, and in order", () => {
    const { send, take, taken } = setup()
    const lengths = [3, 5, 400, 3]
    for (const round of [0, 10, 20]) {
      lengths.forEach((length, i) => send(round + i, length))
      take()
    }
    expect(taken).toEqual(
      [0, 10, 20].flatMap((round) => lengths.map((length, i) => Array.from({ length }, () => round + i)))
    )
  })

  it("are dropped and counted when the kernel takes none for too long, and again taken afterwards", () => {
    const { failures, outbox, send, take, taken } = setup()
    for (let i = 0; i < Outbox.maxWaiting + 3; i++) send(i, 2)
    expect(failures()).toBe(3)
    expect(outbox.waiting()).toBe(Outbox.maxWaiting)
    take()
    expect(taken.length).toBe(Outbox.maxWaiting)
    expect(outbox.waiting()).toBe(0)
    send(99, 1)
    take(new Error("ENETUNREACH"))
    expect(failures()).toBe(4)
    expect(outbox.waiting()).toBe(0)
  })

  it("that are given away leave from where they lie, and are dropped and counted when too many wait", () => {
    const { failures, outbox, taken, take, wait } = setup()
    const mine = Uint8Array.of(1, 2)
    const give = outbox.giver(9, "127.0.0.1")
    give(mine)
    mine[1] = 3
    take()
    expect(taken).toEqual([[1, 3]])
    wait(Outbox.maxWaiting)
    const many = 3 * Outbox.maxWaiting
    for (let i = 0; i < many; i++) give(mine)
    take()
    expect(taken.length).toBeLessThanOrEqual(Outbox.maxWaiting)
    expect(failures()).toBe(many + 1 - taken.length)
    wait(0)
    give(mine)
    take()
    expect(failures()).toBe(many + 1 - (taken.length - 1))
  })

  it("are counted on a socket that is closed", async () => {
    const socket = createSocket("udp4")
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
    let failures = 0
    const outbox = Outbox.make(socket, () => {
      failures++
    })
    socket.close()
    outbox.send(new Uint8Array(3), 3, 9, "127.0.0.1")
    outbox.giver(9, "127.0.0.1")(new Uint8Array(3))
    expect(failures).toBe(2)
    expect(outbox.waiting()).toBe(0)
  })
})
