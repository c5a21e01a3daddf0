import { describe, expect, it } from "@effect/vitest"
import * as G711 from "../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { Command } from "../../../src/media/plane/Protocol.ts"
import type { OnPacket, PacketPort } from "../../../src/media/rtp/PacketPort.ts"
import * as Switch from "../../../src/media/plane/Switch.ts"
import * as RtpPacket from "../../../src/protocol/rtp/RtpPacket.ts"
import { random } from "../../protocol/rtp/RandomBytes.ts"
import * as Ids from "../../support/Ids.ts"
import * as NoStreams from "../stream/NoStreams.ts"
import * as SwitchBench from "../SwitchBench.ts"

const [rooms, phases] = [50, 20]
const frameMs = 20
/**
 * The numbers of each phase: this many packets, of which one has the burst; then a pause until the jitter buffer is
 * empty.
 */
const [packets, burstNumber, pauseFrames] = [22, 15, 13]
const phaseMs = (packets + pauseFrames + 1) * frameMs
const peer = { address: "127.0.0.1", port: 9000 }
const silence = G711.encode("PCMU", Tone.sine(500, -40, frameMs, 8000))
/** 2 ms of 1 kHz at the beginning of a packet, whose path is timed. */
const burst = ((): Uint8Array => {
  const sound = Tone.sine(500, -40, frameMs, 8000)
  sound.set(Tone.sine(1000, -3, 2, 8000))
  return G711.encode("PCMU", sound)
})()
const isLoud = (packet: Uint8Array, length: number): boolean =>
  G711.decode("PCMU", packet.subarray(RtpPacket.headerLength, length)).some((sample) => Math.abs(sample) > 3000)

interface Room {
  /** Receives the packets of its talker. */
  receive: OnPacket
  /** The milliseconds from the packet with the burst to the packet in which it was heard. */
  readonly latencies: Array<number>
  saidAt: number | null
}

/**
 * Returns the milliseconds from the arrival of a talker's packet to the departure of the listener's packet that carries
 * its sound. Rooms and legs are opened in random order, so that their slots are at random distances, and each talker
 * begins again and again at a random phase. Its packets take up to `jitterMs` on their way.
 */
const latencies = (jitterMs: number): ReadonlyArray<number> => {
  const noise = random(31)
  let now = 1000
  const all = Array.from({ length: rooms }, (): Room => ({ receive: () => undefined, latencies: [], saidAt: null }))
  let opening: (onPacket: OnPacket) => (bytes: Uint8Array, length: number) => void = () => () => undefined
  const ports: PacketPort = {
    open: (onPacket, opened) => {
      const sent = opening(onPacket)
      opened({
        port: 4000,
        prepare: (channel, address) => {
          const send = (bytes: Uint8Array, length = bytes.length) => {
            if (channel === "rtp") sent(bytes, length)
          }
          return { address, send, give: send }
        },
        close: () => undefined
      })
    }
  }
  const plane = Switch.make({
    ports,
    emit: () => undefined,
    random: () => Math.floor(noise() * 2 ** 32),
    clock: () => now,
    wallClock: () => 1_700_000_000_000 + now,
    mediaTimeoutMs: 0,
    maxLegs: 3 * rooms,
    streams: NoStreams.make(),
    onDefect: (error) => {
      throw error
    }
  })
  const handle = (command: Command) => plane.handle(command, now)
  const { remote } = SwitchBench.make()

  const talkerOf = (room: number) => Ids.leg(`talker ${room}`)
  const listenerOf = (room: number) => Ids.leg(`listener ${room}`)
  const roomOf = (room: number) => Ids.leg(`room ${room}`)
  const openings = all.flatMap((room, index) => [
    () => handle({ type: "open_room", leg: roomOf(index) }),
    () => {
      opening = (onPacket) => {
        room.receive = onPacket
        return () => undefined
      }
      handle({ type: "open_rtp", leg: talkerOf(index) })
    },
    () => {
      opening = () => (bytes, length) => {
        if (room.saidAt === null || !isLoud(bytes, length)) return
        room.latencies.push(now - room.saidAt)
        room.saidAt = null
      }
      handle({ type: "open_rtp", leg: listenerOf(index) })
    }
  ])
  for (const { open } of openings.map((open) => ({ open, at: noise() })).sort((a, b) => a.at - b.at)) open()
  all.forEach((_, index) => {
    for (const leg of [talkerOf(index), listenerOf(index)]) {
      handle({ type: "connect_rtp", leg, remote: remote(peer.port) })
      const entry = { memberId: Ids.member(leg), isHost: false, isMuted: false, isHeld: false }
      handle({ type: "enter_room", leg, room: roomOf(index), entry })
    }
  })

  const bytes = new Uint8Array(RtpPacket.headerLength + silence.length)
  const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: 7 }
  const beganAt = now
  const arrivals = all
    .flatMap((room) =>
      Array.from({ length: phases }, (_, phase) => {
        const at = beganAt + phase * phaseMs + noise() * frameMs
        return Array.from({ length: packets }, (_, packet) => ({
          at: at + packet * frameMs + noise() * jitterMs,
          room,
          isBurst: packet === burstNumber,
          number: phase * (packets + pauseFrames) + packet
        }))
      }).flat()
    )
    .sort((a, b) => a.at - b.at)
  const arrive = ({ at, isBurst, number, room }: (typeof arrivals)[number]): void => {
    now = at
    header.sequenceNumber = number
    header.timestamp = number * 160
    RtpPacket.writeHeader(bytes, header)
    bytes.set(isBurst ? burst : silence, RtpPacket.headerLength)
    if (isBurst) room.saidAt = now
    room.receive("rtp", bytes, peer)
  }
  let next = 0
  for (let tick = beganAt + 1; next < arrivals.length; tick++) {
    for (let each = arrivals[next]; each !== undefined && each.at <= tick; each = arrivals[++next]) arrive(each)
    now = tick
    plane.tick(now)
  }
  return all.flatMap((room) => room.latencies).sort((a, b) => a - b)
}

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.ceil(share * sorted.length) - 1] ?? NaN

describe("From a packet of who speaks to that of who hears it, jitter buffer included, at a thousand random phases", () => {
  it.each([
    { network: "even", jitterMs: 0 },
    { network: "with 8 ms of jitter", jitterMs: 8 }
  ])(
    "pass less than 45 ms in the middle, and 65 ms but for one in a hundred: network $network",
    { timeout: 120_000 },
    ({ jitterMs }) => {
      const all = latencies(jitterMs)
      expect(all.length).toBe(rooms * phases)
      expect(percentile(all, 0.5)).toBeLessThan(45)
      expect(percentile(all, 0.99)).toBeLessThan(65)
    }
  )
})
