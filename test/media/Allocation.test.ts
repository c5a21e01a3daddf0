import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import type { OnPacket, PacketPort } from "../../src/media/rtp/PacketPort.ts"
import * as Switch from "../../src/media/plane/Switch.ts"
import * as RtpPacket from "../../src/protocol/rtp/RtpPacket.ts"
import * as Ids from "../support/Ids.ts"
import * as SwitchBench from "./SwitchBench.ts"
import * as NoStreams from "./stream/NoStreams.ts"

setFlagsFromString("--expose-gc")
// On a busy machine the compiler's threads get no processor, and code that is not optimized yet allocates its numbers.
setFlagsFromString("--no-concurrent-recompilation")
setFlagsFromString("--no-concurrent-osr")
const collect: () => void = runInNewContext("gc")

const peer = { address: "127.0.0.1", port: 9000 }

/**
 * A switch with one leg in each codec, or two that are bridged, or a room of them all, whose peers send a packet every
 * 20 ms.
 */
const setup = (codecs: ReadonlyArray<"PCMU" | "G722">, isRoom = false) => {
  const receivers: Array<OnPacket> = []
  const payloadTypes = codecs.map((codec) => Codecs.table[codec].payloadType ?? 0)
  const legs = codecs.map((_, i) => Ids.leg(`l${i}`))
  let sent = 0
  const ports: PacketPort = {
    open: (onPacket, opened) => {
      receivers.push(onPacket)
      opened({
        port: 4000 + 2 * receivers.length,
        prepare: (_, address) => ({ address, send: () => void sent++, give: () => void sent++ }),
        close: () => undefined
      })
    }
  }
  let now = 1000
  const plane = Switch.make({
    ports,
    emit: () => undefined,
    random: () => 5,
    clock: () => now,
    wallClock: () => 1_700_000_000_000,
    mediaTimeoutMs: 0,
    maxLegs: 20,
    streams: NoStreams.make(),
    onDefect: (error) => {
      throw error
    }
  })
  legs.forEach((leg, i) => {
    const payloadType = payloadTypes[i] ?? 0
    const change = { codec: codecs[i] ?? "PCMU", audio: { send: payloadType, receive: payloadType } }
    plane.handle({ type: "open_rtp", leg }, now)
    plane.handle({ type: "connect_rtp", leg, remote: SwitchBench.make().remote(peer.port, change) }, now)
  })
  const [one, other] = legs
  if (isRoom) {
    const leg = Ids.leg("room")
    plane.handle({ type: "open_room", leg }, now)
    for (const each of legs) {
      const entry = { memberId: Ids.member(each), isHost: false, isMuted: false, isHeld: false }
      plane.handle({ type: "enter_room", leg: each, room: leg, entry }, now)
    }
  } else if (one !== undefined && other !== undefined) plane.handle({ type: "bridge", leg: one, peer: other }, now)
  const bytes = new Uint8Array(172)
  // The numbers are small, because V8 boxes one beyond 31 bits in 16 bytes, which are no allocation of ours.
  const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: 7 }
  return {
    sent: () => sent,
    /** Runs 20 ms: a packet for each leg, and all slots. */
    round: () => {
      header.sequenceNumber = (header.sequenceNumber + 1) & 0xffff
      header.timestamp = (header.timestamp + 160) >>> 0
      bytes.fill(header.sequenceNumber, RtpPacket.headerLength)
      for (let i = 0; i < receivers.length; i++) {
        header.payloadType = payloadTypes[i] ?? 0
        RtpPacket.writeHeader(bytes, header)
        receivers[i]?.("rtp", bytes, peer)
      }
      now += 20
      plane.tick(now)
    }
  }
}

/**
 * The heap bytes of a round: the least of as many measurements as it takes to come below the limit.
 *
 * Every measurement contains the allocations of a packet's path. V8's own allocations (a compiler that finishes, a
 * function that loses its optimized code and warms up again) are in some of them, on a busy machine in many.
 */
const bytesOf = (round: () => void, rounds: number, limit: number): number => {
  for (let i = 0; i < 10 * rounds; i++) round()
  let least = Infinity
  for (let measured = 0; measured < 40 && least >= limit; measured++) {
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < rounds; i++) round()
    const bytes = (process.memoryUsage().heapUsed - before) / rounds
    // A negative result means that a collection ran meanwhile, so the allocations are unknown.
    if (bytes >= 0) least = Math.min(least, bytes)
  }
  return least
}

describe("On the way of a packet", () => {
  it.each([
    [["PCMU"], 2000],
    [["PCMU", "PCMU"], 2000],
    [["PCMU", "G722"], 500]
  ] as const)("nothing is allocated for it: legs in %j", (legs, rounds) => {
    const { round, sent } = setup(legs)
    // Reports, every 5 s, come to 62 bytes a round of one leg.
    const limit = Math.max(80, 64 * legs.length)
    expect(bytesOf(round, rounds, limit)).toBeLessThan(limit)
    expect(sent()).toBeGreaterThan(legs.length * 10 * rounds)
  })

  it.each([[["PCMU"]], [["PCMU", "G722"]]] as const)("nor in a room of eight members: legs in %j", (codecs) => {
    const legs = Array.from({ length: 8 }, (_, i) => codecs[i % codecs.length] ?? "PCMU")
    const { round, sent } = setup(legs, true)
    const limit = 64 * legs.length
    expect(bytesOf(round, 120, limit)).toBeLessThan(limit)
    expect(sent()).toBeGreaterThan(8 * 1200)
  })
})
