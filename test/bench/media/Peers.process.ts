import { createSocket, type Socket } from "node:dgram"
import { hostile, random } from "../../protocol/rtp/RandomBytes.ts"
import * as Child from "../load/Child.ts"
import { type Departure, type Listening, payloadLength, type Question } from "./Peers.ts"
import * as StampedSocket from "./StampedSocket.ts"

/**
 * The peers: they send a packet for each call every 20 ms and note the packets that come back.
 *
 * The octets of a packet are all the same and step through a hundred loud levels from packet to packet, so that a
 * packet of ours identifies the one of theirs that it carries. G.711 keeps them: decoded and encoded again they are the
 * same octets.
 */
const levels = 100
const loudest = 0x80
const frameMs = 20
const headerLength = 12

const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const noise = random(7)
const word = () => Math.floor(noise() * 2 ** 32)

interface Call {
  readonly port: number
  readonly packet: Uint8Array
  /** When the next packet is due. */
  dueMs: number
  number: number
  /** The last packet of each level. */
  readonly sent: Array<{ readonly number: number; readonly sentMs: number }>
}

let calls: ReadonlyArray<Call> = []
let payloads: ReadonlyArray<Uint8Array> | null = null
let unitsPerPacket = payloadLength
/** Whether the calls are bridged in pairs, and get each other's packets. */
let bridged = false
let callOfPort = new Map<number, number>()
let departures: Array<Departure> = []
let attack: { readonly port: number; readonly perSecond: number; beganMs: number; sent: number } | null = null

const header = (payloadType: number, ssrc: number): Uint8Array => {
  const packet = new Uint8Array(headerLength + payloadLength)
  packet[0] = 0x80
  packet[1] = payloadType
  new DataView(packet.buffer).setUint32(8, ssrc)
  return packet
}

/** Makes a packet that continues where the last one ended. */
const advance = (packet: Uint8Array, number: number): void => {
  const view = new DataView(packet.buffer)
  view.setUint16(2, number & 0xffff)
  view.setUint32(4, (number * unitsPerPacket) >>> 0)
  packet.fill(loudest + (number % levels), headerLength)
}

/** The next packet of a call. */
const packetOf = (call: Call): Uint8Array => {
  advance(call.packet, call.number)
  const payload = payloads?.[call.number % payloads.length]
  if (payload === undefined) return call.packet
  const packet = new Uint8Array(headerLength + payload.length)
  packet.set(call.packet.subarray(0, headerLength))
  packet.set(payload, headerLength)
  return packet
}

const sendDue = (socket: StampedSocket.StampedSocket, now: number): void => {
  for (const call of calls) {
    if (call.dueMs > now) continue
    const packet = packetOf(call)
    call.sent[call.number % levels] = { number: call.number, sentMs: nowMs() }
    socket.send(packet, call.port)
    call.number++
    call.dueMs += frameMs
  }
}

/** The packet of a call that comes back in these octets. */
const carried = (bytes: Uint8Array, call: Call | undefined): Departure["carries"] => {
  const octet = bytes[headerLength]
  if (octet === undefined || bytes.length !== headerLength + payloadLength) return null
  for (let i = headerLength; i < bytes.length; i++) if (bytes[i] !== octet) return null
  return call?.sent[octet - loudest] ?? null
}

const note = ({ atMs, bytes, fromPort }: StampedSocket.Datagram): void => {
  const call = callOfPort.get(fromPort)
  if (call === undefined || bytes.length < headerLength) return
  const sequenceNumber = ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0)
  departures.push({ call, sequenceNumber, atMs, carries: carried(bytes, calls[bridged ? call ^ 1 : call]) })
}

/** A stranger's stream that should not be learnt, control packets, and noise: in turn, to both ports. */
const hostilePackets = () => {
  const stream = header(0, word())
  const report = Uint8Array.of(0x80, 201, 0, 1, 1, 2, 3, 4, 0x81, 203, 0, 1, 1, 2, 3, 4)
  const broken = [...hostile(1000, 5, [stream, report])]
  let turn = 0
  return (): readonly [bytes: Uint8Array, isControl: boolean] => {
    turn++
    if (turn % 3 === 0) {
      advance(stream, turn / 3)
      return [stream, false]
    }
    return turn % 3 === 1 ? [report, true] : [broken[turn % broken.length] ?? report, turn % 2 === 0]
  }
}

const sendHostile = (strangers: ReadonlyArray<Socket>, next: ReturnType<typeof hostilePackets>, now: number): void => {
  if (attack === null) return
  const due = ((now - attack.beganMs) * attack.perSecond) / 1000
  for (; attack.sent < due; attack.sent++) {
    const [bytes, isControl] = next()
    strangers[attack.sent % strangers.length]?.send(bytes.slice(), attack.port + (isControl ? 1 : 0), "127.0.0.1")
  }
}

const bound = (address: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4")
    socket.once("error", () => resolve(null))
    socket.bind(0, address, () => resolve(socket.on("error", () => undefined)))
  })

const listen = async (): Promise<Listening> => {
  const rtp = await StampedSocket.open()
  const rtcp = await bound("127.0.0.1")
  // Packets come from another port of the peer's own host and, if loopback has more than one address, from another
  // host.
  const strangers = [await bound("127.0.0.1"), await bound("127.0.0.2")].filter((socket) => socket !== null)
  const next = hostilePackets()
  const round = () => {
    const now = nowMs()
    sendDue(rtp, now)
    sendHostile(strangers, next, now)
    rtp.drain(note)
    setTimeout(round, 1)
  }
  round()
  return { port: rtp.port, rtcpPort: rtcp?.address().port ?? rtp.port, clock: rtp.clock }
}

const serve = async (question: Question): Promise<Listening | ReadonlyArray<Departure>> => {
  switch (question.type) {
    case "listen":
      return listen()
    case "stream": {
      const now = nowMs()
      calls = question.ports.map((port) => ({
        port,
        packet: header(question.payloadType, word()),
        dueMs: now + noise() * frameMs,
        number: 0,
        sent: []
      }))
      bridged = question.bridged
      payloads = question.payloads
      unitsPerPacket = question.unitsPerPacket
      callOfPort = new Map(question.ports.map((port, index) => [port, index]))
      return []
    }
    case "attack":
      attack = { ...question, beganMs: nowMs(), sent: 0 }
      return []
    case "take": {
      const taken = departures
      departures = []
      return taken
    }
    case "stop":
      calls = []
      attack = null
      return []
  }
}

Child.answer((question) => serve(question as Question))
