import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import { random } from "../../../protocol/rtp/RandomBytes.ts"
import * as Child from "../../load/Child.ts"
import * as StampedSocket from "../StampedSocket.ts"
import type { Answer, Departure, Question, Talk } from "./Talk.ts"

/**
 * The far ends of the members of rooms: each sends a packet every 20 ms, at its own phase. In each room a few talk and
 * the others are quiet. Some talk in words. Otherwise each holds its place with a quiet tone, and now and then one
 * sends a burst, whose travel is timed.
 */
const frameMs = 20
const headerLength = 12
const payloadLength = 160
/** A burst has a frame louder than this; words and tones are not compared with it. */
const loud = 3000
const burstEveryMs = 230

const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const noise = random(7)
const encoded = (sound: Int16Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: sound.length / payloadLength }, (_, i) =>
    G711.encode("PCMU", sound.subarray(i * payloadLength, (i + 1) * payloadLength))
  )

const voice = Tone.tone(
  [120, 240, 720, 1080, 2400].map((frequency, i) => ({ frequency, dbfs: [-26, -22, -20, -24, -32][i] ?? -30 })),
  4000,
  8000
)
/** Words of 1.2 s, in syllables, and an equally long pause. */
const words = encoded(
  voice.map((sample, i) => {
    const syllable = Math.max(0, Math.sin(((i % 2000) / 2000) * (4 / 3) * Math.PI))
    return (i % 19_200) % 16_000 < 9600 ? sample * syllable : (noise() - 0.5) * 60
  })
)
const quiet = encoded(Int16Array.from({ length: 16_000 }, () => (noise() - 0.5) * 60))
const tone = encoded(Tone.sine(500, -40, 2000, 8000))
/** 2 ms of 1 kHz at the beginning of a packet. */
const burst = ((): Uint8Array => {
  const sound = Tone.sine(500, -40, 20, 8000)
  sound.set(Tone.sine(1000, -3, 2, 8000))
  return G711.encode("PCMU", sound)
})()
const linear = G711.decode(
  "PCMU",
  Uint8Array.from({ length: 256 }, (_, octet) => octet)
)

interface Call {
  readonly port: number
  readonly packet: Uint8Array
  readonly isTalker: boolean
  /** By the clock of the far end, without the jitter. */
  dueMs: number
  leavesMs: number
  number: number
}

let calls: ReadonlyArray<Call> = []
let talk: Talk = "words"
let jitterMs = 0
let callOfPort = new Map<number, number>()
let departures: Array<Departure> = []
let bursts: Array<{ readonly call: number; readonly sentMs: number }> = []
let nextBurstMs = 0
let burster = -1
let watchedSinceMs = 0
let usedBefore = process.cpuUsage()
let roundMs = 0
let longestPauseMs = 0

const payloadOf = (call: Call, index: number, now: number): Uint8Array => {
  if (!call.isTalker) return quiet[(call.number + 7 * index) % quiet.length] ?? burst
  if (talk === "words") return words[(call.number + 61 * index) % words.length] ?? burst
  if (talk === "loud") return burst
  if (burster === index && now >= nextBurstMs) {
    const talkers = calls.filter(({ isTalker }) => isTalker).length
    burster = calls.findIndex(
      (
        (wanted) => (each) =>
          each.isTalker && wanted-- === 0
      )(Math.floor(noise() * talkers))
    )
    nextBurstMs = now + burstEveryMs + noise() * 60
    bursts.push({ call: index, sentMs: nowMs() })
    return burst
  }
  return tone[call.number % tone.length] ?? burst
}

const sendDue = (socket: StampedSocket.StampedSocket, now: number): void => {
  calls.forEach((call, index) => {
    if (call.leavesMs > now) return
    const view = new DataView(call.packet.buffer)
    view.setUint16(2, call.number & 0xffff)
    view.setUint32(4, (call.number * payloadLength) >>> 0)
    call.packet.set(payloadOf(call, index, now), headerLength)
    socket.send(call.packet, call.port)
    call.number++
    call.dueMs += frameMs
    call.leavesMs = call.dueMs + noise() * jitterMs
  })
}

const note = ({ atMs, bytes, fromPort }: StampedSocket.Datagram): void => {
  const call = callOfPort.get(fromPort)
  if (call === undefined || bytes.length !== headerLength + payloadLength) return
  let isLoud = false
  for (let i = headerLength; i < bytes.length; i++) if (Math.abs(linear[bytes[i] ?? 0] ?? 0) > loud) isLoud = true
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  departures.push({ call, sequenceNumber: view.getUint16(2), timestamp: view.getUint32(4), atMs, isLoud })
}

const forget = (): void => {
  departures = []
  bursts = []
}

const watch = (): void => {
  forget()
  watchedSinceMs = nowMs()
  usedBefore = process.cpuUsage()
  longestPauseMs = 0
}

const answer = (): Answer => {
  const { system, user } = process.cpuUsage(usedBefore)
  const cores = (system + user) / 1000 / (nowMs() - watchedSinceMs)
  return { departures, bursts, port: 0, clock: "receiver", cores, longestPauseMs }
}

const serve = async (question: Question): Promise<Answer> => {
  switch (question.type) {
    case "listen": {
      const rtp = await StampedSocket.open()
      const round = () => {
        const now = nowMs()
        longestPauseMs = Math.max(longestPauseMs, now - roundMs)
        roundMs = now
        sendDue(rtp, now)
        rtp.drain(note)
        setTimeout(round, 1)
      }
      round()
      return { ...answer(), port: rtp.port, clock: rtp.clock }
    }
    case "talk": {
      const now = nowMs()
      talk = question.talk
      jitterMs = question.jitterMs
      burster = 0
      nextBurstMs = now + 500
      calls = question.ports.map((port, index) => {
        const packet = new Uint8Array(headerLength + payloadLength)
        packet[0] = 0x80
        new DataView(packet.buffer).setUint32(8, Math.floor(noise() * 2 ** 32))
        const dueMs = now + noise() * frameMs
        const isTalker = index % question.roomSize < question.talkers
        return { port, packet, isTalker, dueMs, leavesMs: dueMs, number: 0 }
      })
      callOfPort = new Map(question.ports.map((port, index) => [port, index]))
      break
    }
    case "watch":
      watch()
      break
    case "take": {
      const taken = answer()
      forget()
      return taken
    }
    case "stop":
      calls = []
  }
  return { ...answer(), departures: [], bursts: [] }
}

Child.answer((question) => serve(question as Question))
