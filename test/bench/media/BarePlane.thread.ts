import { createSocket } from "node:dgram"
import { parentPort } from "node:worker_threads"

/**
 * The least that a media thread can do: a socket a call that sends back the last packet it got, once every 20 ms. No
 * codec, no jitter buffer, no control, no rules.
 */
export type ToBare =
  | { readonly type: "open"; readonly calls: number; readonly peerPort: number }
  | { readonly type: "close" }

const port = parentPort
if (port === null) throw new Error("BarePlane is a worker thread")

type Lookup = (name: string, options: unknown, done: (error: null, address: string, family: number) => void) => void
const lookup: Lookup = (name, _, done) => done(null, name, 4)

interface Call {
  readonly send: () => void
  readonly close: () => void
  readonly port: number
}

const open = (peerPort: number): Promise<Call> =>
  new Promise((resolve) => {
    const socket = createSocket({ type: "udp4", lookup })
    let last = new Uint8Array(172)
    let sequenceNumber = 0
    socket.on("message", (bytes) => {
      last = bytes
    })
    socket.bind(0, "127.0.0.1", () =>
      resolve({
        port: socket.address().port,
        send: () => {
          new DataView(last.buffer, last.byteOffset).setUint16(2, sequenceNumber++ & 0xffff)
          socket.send(last, peerPort, "127.0.0.1")
        },
        close: () => socket.close()
      })
    )
  })

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
  void Promise.all(Array.from({ length: message.calls }, () => open(message.peerPort))).then((opened) => {
    calls = opened
    cursor = Math.floor(performance.now())
    round()
    port.postMessage(calls.map((call) => call.port))
  })
})
