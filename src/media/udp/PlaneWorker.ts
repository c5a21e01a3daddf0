import { randomFillSync } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import * as ReadTurns from "../../ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../ports/egress/node/WsClient.ts"
import * as Common from "../stream/dialect/Common.ts"
import * as Switch from "../plane/Switch.ts"
import type { FromThread, ThreadConfig, ToThread } from "./PlaneThread.ts"
import * as ThreadPriority from "../../runtime/process/ThreadPriority.ts"
import * as PacketIo from "./packet/PacketIo.ts"
import * as UdpPorts from "./packet/UdpPorts.ts"

/** The thread of the media plane: the switch, its sockets and its clock. */
const port = parentPort
if (port === null) throw new Error("PlaneWorker is a worker thread")
// The parent passes a ThreadConfig, as PlaneThread declares.
const config = workerData as ThreadConfig
const emit = (message: FromThread) => port.postMessage(message)

const words = new Uint32Array(64)
let wordsLeft = 0
const random = (): number => {
  if (wordsLeft === 0) {
    randomFillSync(words)
    wordsLeft = words.length
  }
  return words[--wordsLeft] ?? 0
}

// The clock of a thread begins with the thread; times in messages are read on the clock of the process.
const beganAt = Number(process.hrtime.bigint()) / 1e6 - performance.now()
const clock = () => beganAt + performance.now()
const cpuClock = () => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}
const socketTurns = ReadTurns.make()
const streams = Common.make({ open: WsClient.make(socketTurns), wallClock: Date.now })
let armedFor = Number.POSITIVE_INFINITY
/** How late timers of Node other than that of the slots may be (those of WebSockets, in seconds). */
const mostPatienceMs = 10
const { chosen, sockets } = await PacketIo.choose(config.packetIo, {
  descriptors: config.descriptors,
  patience: () => {
    // The slots run here, because Node's timer fires up to a millisecond later, and nothing could be waited for
    // meanwhile.
    if (clock() >= armedFor) fall()
    // Servers of streams are read in turns of the loop, between which packets pass.
    if (socketTurns.isWaiting()) return 0
    return Math.min(mostPatienceMs, Math.max(0, armedFor - clock()))
  }
})
const ports = UdpPorts.make({ ...config, random, sockets })
const plane = Switch.make({
  ports,
  emit,
  random,
  clock,
  cpuClock,
  wallClock: Date.now,
  mediaTimeoutMs: config.mediaTimeoutMs,
  maxLegs: config.maxLegs,
  ringback: config.ringback,
  streams,
  onDue: () => arm(),
  onDefect: (error) =>
    emit({ type: "defect", error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
})

let timer: NodeJS.Timeout | null = null

/**
 * Sleeps until the next slot. Each sleep is measured from the slot's own time, so that lateness never adds up (an
 * interval timer drifts by 0.6 ms a tick); a timer that fires early finds nothing due and sleeps again.
 */
const arm = (): void => {
  const due = plane.nextDue()
  if (due === null || due >= armedFor) return
  if (timer !== null) clearTimeout(timer)
  armedFor = due
  timer = setTimeout(fall, Math.max(1, due - clock()))
}

/** Runs the due slots. */
const fall = (): void => {
  if (timer !== null) clearTimeout(timer)
  timer = null
  armedFor = Number.POSITIVE_INFINITY
  Atomics.add(config.turns, 0, 1)
  plane.tick(clock())
  arm()
}

port.on("message", (message: ToThread) => {
  Atomics.add(config.turns, 0, 1)
  if (message.type === "ping") {
    const { playbackGaps, size, skippedFrames } = plane
    return emit({
      type: "pong",
      figures: {
        legs: size(),
        skippedFrames: skippedFrames(),
        playbackGaps: playbackGaps(),
        streams: streams.figures,
        packetErrors: ports.errors()
      }
    })
  }
  if (message.type === "shutdown") {
    plane.close(clock())
    if (timer !== null) clearTimeout(timer)
    return port.close()
  }
  plane.handle(message, clock())
  arm()
})
const { pid, platform } = process
emit({
  type: "ready",
  priority: ThreadPriority.raise({ platform, setPriority }),
  groupPriority: ThreadPriority.raiseGroup({
    platform,
    pid,
    read: (path) => readFileSync(path, "utf8"),
    write: writeFileSync
  }),
  packetIo: chosen
})
