import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"
import * as Child from "../load/Child.ts"

/**
 * Both ends of streams, so that one clock measures them: the far ends of calls, which send a packet every 20 ms, and
 * the WebSocket servers, which send a tenth of a second of sound every half second, while nothing waits.
 *
 * The octets of a packet or of a burst are all the same and identify it. Samples of the peers are positive, samples of
 * the servers negative.
 */
export type Question =
  | { readonly type: "listen"; readonly key: string; readonly cert: string }
  | { readonly type: "run"; readonly ports: ReadonlyArray<number>; readonly ms: number; readonly settleMs: number }

export interface Listening {
  readonly rtpPort: number
  readonly webSocketPort: number
}

/** The measured milliseconds, in their order. */
export interface Measured {
  readonly inbound: ReadonlyArray<number>
  readonly outbound: ReadonlyArray<number>
  /** The number of sound messages that the servers received. */
  readonly messages: number
}

const headerLength = 12
const payloadLength = 160
const levels = 100
const burstEveryMs = 500
const burst = 800

const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const rtp = createSocket({ type: "udp4", recvBufferSize: 4 * 1024 * 1024 })
/** Keyed by the index of the call, which is the path of its stream. */
const sockets = new Map<number, WebSocket>()
let heard: (call: number, octet: number) => void = () => undefined
let messages = 0

const listen = async (key: string, cert: string): Promise<Listening> => {
  rtp.bind(0, "127.0.0.1")
  await once(rtp, "listening")
  const server = createServer({ key, cert })
  new WebSocketServer({ server }).on("connection", (socket, request) => {
    const call = Number((request.url ?? "/").slice(1))
    sockets.set(call, socket)
    socket.on("message", (data: Buffer) => {
      // The payload is found without parsing, because the server's own work is not measured.
      const at = data.indexOf('"payload":"')
      if (at === -1) return
      messages++
      const [first, last] = Buffer.from(data.toString("latin1", at + 11, at + 11 + 216), "base64").subarray(0, 160)
      if (first !== undefined && first === last) heard(call, first)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { rtpPort: rtp.address().port, webSocketPort: (server.address() as AddressInfo).port }
}

const run = async (ports: ReadonlyArray<number>, ms: number, settleMs: number): Promise<Measured> => {
  const inbound: Array<number> = []
  const outbound: Array<number> = []
  const began = nowMs()
  const isMeasured = () => nowMs() - began > settleMs
  const callOf = new Map(ports.map((port, index) => [port, index]))
  const spoken = ports.map((): Array<number> => [])
  const bursts = ports.map(() => ({ octet: 0, at: 0 }))
  heard = (call, octet) => {
    const at = spoken[call]?.[octet - 0x80]
    if (at !== undefined && isMeasured()) inbound.push(nowMs() - at)
  }
  const arrived = (bytes: Buffer, { port }: { readonly port: number }): void => {
    const last = bursts[callOf.get(port) ?? -1]
    if (last === undefined || last.at === 0 || bytes[headerLength] !== last.octet) return
    if (isMeasured()) outbound.push(nowMs() - last.at)
    last.at = 0
  }
  rtp.on("message", arrived)
  const calls = ports.map((port, index) => {
    const packet = Buffer.alloc(headerLength + payloadLength)
    packet[0] = 0x80
    packet.writeUInt32BE(index + 1, 8)
    return {
      port,
      index,
      packet,
      number: 0,
      dueMs: began + Math.random() * 20,
      burstMs: began + Math.random() * burstEveryMs
    }
  })
  messages = 0
  while (nowMs() - began < ms) {
    for (const call of calls) {
      const now = nowMs()
      if (call.dueMs <= now) {
        const level = call.number % levels
        call.packet.writeUInt16BE(call.number & 0xffff, 2)
        call.packet.writeUInt32BE((call.number * payloadLength) >>> 0, 4)
        call.packet.fill(0x80 + level, headerLength)
        const sent = spoken[call.index]
        if (sent !== undefined) sent[level] = nowMs()
        rtp.send(call.packet, call.port, "127.0.0.1")
        call.number++
        call.dueMs += 20
      }
      if (call.burstMs <= now) {
        const state = bursts[call.index]
        const octet = 1 + (Math.floor(call.burstMs / burstEveryMs) % levels)
        if (state !== undefined) Object.assign(state, { octet, at: nowMs() })
        const payload = Buffer.alloc(burst, octet).toString("base64")
        sockets.get(call.index)?.send(JSON.stringify({ event: "media", media: { payload } }))
        call.burstMs += burstEveryMs
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  rtp.off("message", arrived)
  return { inbound, outbound, messages }
}

Child.answer((question) => {
  const asked = question as Question
  return asked.type === "listen" ? listen(asked.key, asked.cert) : run(asked.ports, asked.ms, asked.settleMs)
})
