/**
 * A thread that opens WebSockets to the destinations in its message and does nothing else, as the thread of calls does
 * between packets. On request it reports the longest time that a turn of its loop used, in milliseconds of processor
 * time, so the load of the machine does not count. The longest includes the turns of a millisecond.
 */
import { parentPort } from "node:worker_threads"
import * as ReadTurns from "../../../../src/ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../../../src/ports/egress/node/WsClient.ts"
import type { Pinned } from "../../../../src/ports/egress/Pinned.ts"
import type { Closed, Options } from "../../../../src/ports/egress/WebSocketClient.ts"

export interface Asked {
  readonly pinned: Pinned
  readonly options: Options
  readonly count: number
}

export interface Turns {
  readonly longestMs: number
  readonly open: number
  readonly octets: number
  readonly messages: number
  readonly closed: ReadonlyArray<Closed>
}

const open = WsClient.make(ReadTurns.make())
const closed: Array<Closed> = []
let opened = 0
let octets = 0
let messages = 0
let longestMs = 0

const usedMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}
let before = usedMs()
const turn = (): void => {
  const now = usedMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
  setTimeout(turn, 1)
}

parentPort?.on("message", (message: Asked | "start" | "report") => {
  if (message === "start") {
    longestMs = 0
    before = usedMs()
    return
  }
  if (message === "report") {
    parentPort?.postMessage({ longestMs, open: opened, octets, messages, closed } satisfies Turns, [])
    return
  }
  for (let n = 0; n < message.count; n++)
    open(message.pinned, message.options, {
      onOpen: () => void opened++,
      onMessage: () => void messages++,
      onRead: (count) => void (octets += count),
      onClose: (how) => void closed.push(how)
    })
})
turn()
