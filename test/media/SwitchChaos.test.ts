import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Libopus from "../../src/protocol/audio/codec/Libopus.ts"
import * as Resample from "../../src/protocol/audio/Resample.ts"
import type { Command, RtpRemote } from "../../src/media/plane/Protocol.ts"
import * as RtpPacket from "../../src/protocol/rtp/RtpPacket.ts"
import { random } from "../protocol/rtp/RandomBytes.ts"
import * as RtpSample from "../protocol/rtp/RtpSample.ts"
import * as Ids from "../support/Ids.ts"
import * as Media from "./support/MediaSample.ts"
import * as SwitchBench from "./SwitchBench.ts"

const legs = ["a", "b", "c", "d", "e", "f"].map(Ids.leg)
const scripts = [
  { type: "echo" },
  { type: "plays", parts: [{ sound: "speech", ms: 300 }], repeats: true },
  { type: "press", digits: "12", afterMs: 0, everyMs: 400 }
] as const
const directions: ReadonlyArray<RtpRemote["direction"]> = ["sendrecv", "sendrecv", "sendonly", "recvonly", "inactive"]

/** Commands and datagrams in any order, most of them out of place; the network loses and delays. */
const chaos = (seed: number, acts: number) => {
  const noise = random(seed)
  const below = (limit: number) => Math.floor(noise() * limit)
  const pick = <A>(of: ReadonlyArray<A>): A => {
    const one = of[below(of.length)]
    if (one === undefined) throw new Error("nothing to pick")
    return one
  }
  const weather = () => (below(20) === 0 ? [] : [below(60)])
  const bench = SwitchBench.make({ maxLegs: legs.length, mediaTimeoutMs: 3000 }, weather)
  const payload = Uint8Array.from({ length: 3000 }, () => below(256))
  let count = 0
  let longest = 0
  let mostHeld = 0

  const command = (): Command => {
    const leg = pick(legs)
    const id = Ids.work(`w${count++}`)
    const codec = pick(Codecs.names)
    const send = Codecs.table[codec].payloadType ?? 97
    switch (below(12)) {
      case 0:
        return { type: "open_rtp", leg }
      case 1:
        return { type: "open_phone", leg, script: pick(scripts) }
      case 2:
        return { type: "open_joined", leg, peer: pick(legs) }
      case 3:
      case 4: {
        const telephoneEvent = pick([null, { send: 101, receive: 96, clockRate: 8000 }])
        const change = {
          codec,
          audio: { send, receive: pick([send, 97]) },
          direction: pick(directions),
          telephoneEvent
        }
        return { type: "connect_rtp", leg, remote: bench.remote(pick([9000, 40_000 + 2 * below(60)]), change) }
      }
      case 5:
      case 6:
        return { type: "bridge", leg, peer: pick(legs) }
      case 7:
        return { type: "unbridge", leg }
      case 8:
        return { type: below(2) === 0 ? "close" : "unbridge", leg }
      case 9: {
        bench.handle({ type: "media", leg, media: Media.play(id, "https://a/", pick([1, 3, 100])) })
        const samples = new Int16Array(pick([1, 39, 160, 961, 8000])).fill(9000)
        return {
          type: "supply",
          leg,
          id,
          sound: { rate: pick([8000, 16_000, 24_000, 48_000] as const), samples },
          isLast: true
        }
      }
      case 10:
        return { type: "media", leg, media: { type: "stop_playback", which: pick(["all", "current"] as const) } }
      default:
        return { type: "media", leg, media: Media.dtmf(id, pick(["1", "ww2", "###"]), pick([40, 100, 900])) }
    }
  }

  const datagram = () => {
    const bytes = RtpSample.write({
      payloadType: pick([0, 8, 9, 101, 96, 97, 72]),
      marker: false,
      sequenceNumber: count++ & 0xffff,
      timestamp: (count * 160) >>> 0,
      ssrc: pick([1, 1, 2]),
      payload: payload.subarray(0, pick([0, 1, 4, 160, 1600, 2900]))
    })
    const from = { address: "127.0.0.1", port: pick([9000, 9000, 9001]) }
    const to = { address: "127.0.0.1", port: 40_000 + 2 * below(60) }
    bench.network.receive({ channel: pick(["rtp", "rtcp"] as const), bytes, from, to })
  }

  for (let i = 0; i < acts; i++) {
    bench.handle(command())
    for (let n = below(6); n > 0; n--) datagram()
    bench.run(below(30))
    longest = Math.max(longest, ...bench.network.sent.map(({ bytes }) => bytes.length))
    bench.network.sent.length = 0
    mostHeld = Math.max(mostHeld, Resample.filtersHeld())
  }
  return { bench, longest, mostHeld }
}

describe("The switch, whatever it is told in whatever order", () => {
  it.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    "has no fault, and gives back ports and filters when its legs are closed (seed %i)",
    (seed) => {
      const before = Resample.filtersHeld()
      const codersBefore = Libopus.codersHeld()
      const { bench, longest, mostHeld } = chaos(seed, 600)
      expect(bench.events.filter(({ type }) => type === "bridged").length).toBeGreaterThan(5)
      expect(bench.events.filter((event) => event.type === "lost" && event.reason === "plane_stopped")).toEqual([])
      // The packet of a frame in the longest codec that came up; reports are shorter.
      expect(longest).toBeGreaterThanOrEqual(172)
      expect(longest).toBeLessThanOrEqual(RtpPacket.headerLength + Codecs.longestFrameOctets)
      expect(mostHeld).toBeGreaterThan(before)
      bench.plane.close(1_000_000)
      expect([bench.plane.size(), bench.network.bound()]).toEqual([0, 0])
      expect(Resample.filtersHeld()).toBe(before)
      expect(Libopus.codersHeld()).toBe(codersBefore)
    }
  )
})
