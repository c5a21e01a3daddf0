import { createSocket } from "node:dgram"
import { Worker } from "node:worker_threads"
import { expect, it } from "@effect/vitest"
import * as Descriptors from "../../../../src/media/udp/packet/Descriptors.ts"
import * as PacketIo from "../../../../src/media/udp/packet/PacketIo.ts"
import type { FromThread, ThreadConfig, ToThread } from "../../../../src/media/udp/PlaneThread.ts"
import * as Ids from "../../../support/Ids.ts"

const host = "127.0.0.1"

const bind = (port: number) =>
  new Promise<string>((resolve) => {
    const socket = createSocket("udp4")
    const done = (outcome: string) => socket.close(() => resolve(outcome))
    socket.once("error", (error) => done("code" in error ? String(error.code) : error.message))
    socket.bind(port, host, () => done("free"))
  })

it("What a media thread has open when it is ended in the middle is closed by its parent", async () => {
  const descriptors = Descriptors.make()
  const workerData: ThreadConfig = {
    bindAddress: host,
    portMin: 44_800,
    portMax: 44_803,
    mediaTimeoutMs: 0,
    maxLegs: 2,
    ringback: "US",
    packetIo: "kernel",
    descriptors,
    turns: new Int32Array(new SharedArrayBuffer(4))
  }
  const program = new URL("../../../../src/media/udp/PlaneWorker.ts", import.meta.url)
  const worker = new Worker(program, { workerData })
  const port = await new Promise<number>((resolve) => {
    worker.on("message", (message: FromThread) => {
      const open: ToThread = { type: "open_rtp", leg: Ids.leg("l") }
      if (message.type === "ready") worker.postMessage(open, [])
      if (message.type === "opened") resolve(message.port)
    })
  })
  // The thread is terminated while it waits for packets.
  await worker.terminate()
  PacketIo.closeLeft(descriptors)
  expect(await Promise.all([bind(port), bind(port + 1)])).toEqual(["free", "free"])
  expect(Descriptors.left(descriptors)).toEqual([])
})
