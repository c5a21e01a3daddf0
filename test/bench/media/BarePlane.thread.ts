import { createSocket } from "node:dgram"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import * as ThreadPriority from "../../../src/runtime/process/ThreadPriority.ts"

/**
 * The least that a media thread can do: a socket for each call that sends back the last received packet, once every 20
 * ms. No codec, no jitter buffer, no control, no rules. It has the priority of the media thread: a thread that is woken
 * for each packet alone works more than one that finds several. As a relay it passes each call's packets on, through
 * the socket of the neighbouring call, with a new header.
 */
export type ToBare =
  | { readonly type: "open"; readonly calls: number; readonly peerPort: number; readonly isRelay: boolean }
  | { readonly type: "close" }

const port = parentPort
if (port === null) throw new Error("BarePlane is a worker thread")

type Lookup = (name: string, options: unknown, done: (error: null, address: string, family: number) => void) => void
const lookup: Lookup = (name, _, done) => done(null, name, 4)

interface Call {
  readonly send: () => void
  /** Passes a packet of the other call on. */
  readonly pass: (bytes: Uint8Array) => void
  readonly close: () => void
  readonly port: number
}

const open = (peerPort: number, heard: (bytes: Uint8Array) => void): Promise<Call> =>
  new Promise((resolve) => {
    const socket = createSocket({ type: "udp4", lookup })
    let last = new Uint8Array(172)
    let sequenceNumber = 0
    socket.on("message", (bytes) => {
      last = bytes
      heard(bytes)
    })
    socket.bind(0, "127.0.0.1", () =>
      resolve({
        port: socket.address().port,
        pass: (bytes) => {
          const view = new DataView(bytes.buffer, bytes.byteOffset)
          view.setUint16(2, (view.getUint16(2) + 7) & 0xffff)
          view.setUint32(4, view.getUint32(4) + 7)
          view.setUint32(8, 7)
          socket.send(bytes, peerPort, "127.0.0.1")
        },
        send: () => {
          const view = new DataView(last.buffer, last.byteOffset)
          view.setUint16(2, sequenceNumber & 0xffff)
          view.setUint32(4, (160 * sequenceNumber) >>> 0)
          sequenceNumber++
          socket.send(last, peerPort, "127.0.0.1")
        },
        close: () => socket.close()
      })
    )
  })

ThreadPriority.raise({ platform: process.platform, setPriority })

let calls: ReadonlyArray<Call> = []
let cursor = 0
let timer: NodeJS.Timeout | null = null

const round = () => {
  const now = performance.now()
  for (; cursor + 1 <= now; cursor++) calls.forEach((call, index) => index % 20 === cursor % 20 && call.send())
  timer = setTimeout(round, Math.max(1, cursor + 1 - performance.now()))
}

port.on("message", (message: ToBare) => {
  if (timer !== null) clearTimeout(timer)
  for (const call of calls) call.close()
  calls = []
  if (message.type === "close") return port.postMessage([])
  const heard = (index: number) => (bytes: Uint8Array) => {
    if (message.isRelay) calls[index ^ 1]?.pass(bytes)
  }
  void Promise.all(Array.from({ length: message.calls }, (_, i) => open(message.peerPort, heard(i)))).then((opened) => {
    calls = opened
    cursor = Math.floor(performance.now())
    if (!message.isRelay) round()
    port.postMessage(calls.map((call) => call.port))
  })
})
