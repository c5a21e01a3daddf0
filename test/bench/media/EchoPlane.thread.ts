import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import * as Frame from "../../../src/media/Frame.ts"
import type { LegId } from "../../../src/media/Protocol.ts"
import * as RtpLeg from "../../../src/media/RtpLeg.ts"
import type { FromThread, ThreadConfig, ToThread } from "../../../src/media/udp/PlaneThread.ts"
import * as ThreadPriority from "../../../src/media/udp/ThreadPriority.ts"
import * as UdpPorts from "../../../src/media/udp/UdpPorts.ts"

/**
 * A media thread whose RTP legs hear themselves: what a leg says leaves again in the same round of 20 ms, through the
 * jitter buffer and both ways through the codec.
 */
const port = parentPort
if (port === null) throw new Error("EchoPlane is a worker thread")
const config = workerData as ThreadConfig
const emit = (message: FromThread) => port.postMessage(message)
const random = () => Math.floor(Math.random() * 2 ** 32)
const clock = () => performance.now()
const ports = UdpPorts.make({ ...config, random })

interface Leg {
  readonly rtp: RtpLeg.RtpLeg
  readonly slot: number
}

const legs = new Map<LegId, Leg>()
let frame = Frame.make(8000)
let opened = 0
let cursor = Math.floor(clock())

const round = () => {
  for (const now = clock(); cursor + 1 <= now;) {
    cursor++
    for (const { rtp, slot } of legs.values()) {
      if (slot !== cursor % Frame.frameMs) continue
      frame = Frame.at(rtp.far.rate(), frame)
      rtp.far.say(frame, cursor)
      if (rtp.far.ready()) rtp.far.hear(frame, cursor)
    }
  }
  timer = setTimeout(round, Math.max(1, cursor + 1 - clock()))
}
let timer = setTimeout(round, 1)

port.on("message", (message: ToThread) => {
  switch (message.type) {
    case "open_rtp": {
      const rtp = RtpLeg.make({
        random,
        wallClock: Date.now,
        mediaTimeoutMs: 0,
        emit: (event) => emit({ leg: message.leg, ...event }),
        onDigit: () => undefined
      })
      legs.set(message.leg, { rtp, slot: opened++ % Frame.frameMs })
      return ports.open(
        (channel, bytes, from) => rtp.receive(channel, bytes, from, clock()),
        (socket) => {
          if (socket === null) return emit({ type: "refused", leg: message.leg, reason: "no_ports" })
          rtp.attach(socket)
          emit({ type: "opened", leg: message.leg, port: socket.port })
        }
      )
    }
    case "connect_rtp":
      return legs.get(message.leg)?.rtp.connect(message.remote, clock())
    case "close":
      legs.get(message.leg)?.rtp.far.close(clock())
      legs.delete(message.leg)
      return emit({ type: "closed", leg: message.leg })
    case "shutdown":
      clearTimeout(timer)
      return port.close()
    default:
      return
  }
})
emit({ type: "ready", priority: ThreadPriority.raise({ platform: process.platform, setPriority }) })
