import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Goertzel from "../support/Goertzel.ts"
import type { SampleRate } from "../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import type * as Frame from "../../src/media/Frame.ts"
import type { Track } from "../../src/media/mix/Tap.ts"
import * as RtpSample from "../protocol/rtp/RtpSample.ts"
import * as Ids from "../support/Ids.ts"
import * as Media from "./support/MediaSample.ts"
import * as SwitchBench from "./SwitchBench.ts"

const [a, b] = [Ids.leg("a"), Ids.leg("b")]
const wideband = { codec: "G722", audio: { send: 9, receive: 9 } } as const

const tone = (rate: SampleRate, frequency: number, ms: number): Frame.Sound => ({
  rate,
  samples: Tone.sine(frequency, -12, ms, rate)
})

/** Two legs of one codec that are each other's peer; the first plays a sound. */
const playing = (sound: Frame.Sound, change: Parameters<typeof SwitchBench.pair>[2]) => {
  const bench = SwitchBench.pair({}, undefined, change)
  bench.handle({ type: "media", leg: a, media: Media.play(Ids.work("p"), "https://a/") })
  bench.handle({ type: "supply", leg: a, id: Ids.work("p"), sound, isLast: true })
  const packets = () =>
    bench.network.sent
      .filter(({ channel, from }) => channel === "rtp" && from.port === bench.portOf(a))
      .map(({ bytes }) => RtpSample.parse(bytes))
  return { bench, packets }
}

const heardIn = (packets: ReadonlyArray<RtpSample.Parsed>, name: Codecs.CodecName): Int16Array => {
  const decoder = Codecs.table[name].decoder()
  const out = new Int16Array(Codecs.table[name].sampleRate / 50)
  return Int16Array.from(
    packets.flatMap(({ payload }) => {
      decoder.decode(payload, out)
      return [...out]
    })
  )
}

describe("Legs of a codec", () => {
  it("send a packet of 160 octets every 20 ms in G.722, whose RTP clock runs at half the rate of its samples", () => {
    const { bench, packets } = playing(tone(16_000, 1000, 1000), wideband)
    bench.run(500)
    const sent = packets()
    expect(sent.length).toBe(25)
    sent.forEach((packet, i) => {
      expect(packet.payloadType).toBe(9)
      expect(packet.payload.length).toBe(160)
      expect((packet.timestamp - (sent[0]?.timestamp ?? 0)) >>> 0).toBe(i * 160)
    })
  })

  it.each([
    ["PCMU", 0, 8000, 1000],
    ["PCMA", 8, 8000, 1000],
    ["G722", 9, 8000, 1000],
    ["G722", 9, 16_000, 1000],
    ["G722", 9, 16_000, 5500],
    ["PCMU", 0, 16_000, 1000],
    ["G722", 9, 48_000, 5500],
    ["OPUS", 97, 16_000, 1000],
    ["OPUS", 97, 16_000, 5500],
    ["L16", 98, 8000, 1000],
    ["L16", 98, 16_000, 5500]
  ] as const)(
    "play a sound in %s (payload type %i) that was kept at %i Hz, as its tone of %i Hz",
    (codec, payloadType, rate, frequency) => {
      const { bench, packets } = playing(tone(rate, frequency, 1000), {
        codec,
        audio: { send: payloadType, receive: payloadType }
      })
      bench.run(500)
      const { sampleRate } = Codecs.table[codec]
      const heard = heardIn(packets(), codec).subarray(sampleRate / 10)
      expect(Goertzel.level(heard, frequency, sampleRate)).toBeCloseTo(-12, 0)
    }
  )

  it("let nothing through a narrow leg that it cannot carry", () => {
    const { bench, packets } = playing(tone(16_000, 5500, 1000), {})
    bench.run(500)
    expect(Goertzel.totalLevel(heardIn(packets(), "PCMU").subarray(800))).toBeLessThan(-60)
  })

  it("hear each other's digits and sound in G.722 through loss and jitter", () => {
    let n = 0
    const bench = SwitchBench.pair(
      {},
      ({ channel }) => (channel === "rtp" && n++ % 40 === 7 ? [] : [20 + (n % 3) * 15]),
      wideband
    )
    bench.run(500)
    bench.handle({ type: "media", leg: a, media: Media.dtmf(Ids.work("d"), "1590#") })
    bench.run(2000)
    expect(bench.digitsOf(b)).toBe("1590#")
    expect(bench.plane.countersOf(b)?.concealed).toBeGreaterThan(0)
    expect(bench.plane.countersOf(b)?.late).toBe(0)
  })

  it.each([
    ["PCMU", "G722"],
    ["PCMU", "OPUS"],
    ["OPUS", "L16"],
    ["L16", "PCMA"]
  ] as const)(
    "change over from %s to %s in a call: taps, sounds and digits go on, at the rate of the leg",
    (from, to) => {
      const encoding = (codec: Codecs.CodecName) => {
        const payloadType = Codecs.table[codec].payloadType ?? 97
        return { codec, audio: { send: payloadType, receive: payloadType } }
      }
      const bench = SwitchBench.pair({}, undefined, encoding(from))
      bench.handle({ type: "media", leg: a, media: Media.play(Ids.work("p"), "https://a/") })
      bench.handle({ type: "supply", leg: a, id: Ids.work("p"), sound: tone(8000, 1000, 4000), isLast: true })
      const capture = (leg: typeof a, track: Track, id: string) => {
        const wanted = { tracks: [track], chunkMs: 20, mostRate: 48_000, mostWaiting: 1000 } as const
        const beeps = { atStart: false, everyMs: null }
        bench.handle({ type: "capture", leg, id: Ids.work(id), wanted: { ...wanted, beeps } })
      }
      const chunksOf = (id: string) =>
        bench.events.flatMap((event) => (event.type === "captured" && event.id === id ? [event.chunk] : []))
      const both = (suffix: string) => {
        capture(a, "outbound", `out${suffix}`)
        capture(b, "inbound", `in${suffix}`)
      }
      both("1")
      bench.run(1000)
      for (const [leg, peer] of [
        [a, b],
        [b, a]
      ] as const)
        bench.handle({ type: "connect_rtp", leg, remote: bench.remote(bench.portOf(peer), encoding(to)) })
      bench.run(500)
      both("2")
      bench.run(1000)
      for (const track of ["in", "out"]) {
        const [whole, later] = [chunksOf(`${track}1`), chunksOf(`${track}2`)]
        expect(whole.every(({ at }, i) => at === (whole[0]?.at ?? 0) + 20 * i)).toBe(true)
        expect(whole.length).toBeGreaterThan(120)
        for (const [part, { sampleRate }] of [
          [whole.slice(25, 50), Codecs.table[from]],
          [whole.slice(-25), Codecs.table[from]],
          [later.slice(-25), Codecs.table[to]]
        ] as const) {
          expect(part[0]?.rate).toBe(sampleRate)
          const sound = Int16Array.from(part.flatMap(({ tracks }) => [...(tracks[0] ?? [])]))
          expect(Goertzel.level(sound, 1000, sampleRate)).toBeCloseTo(-12, 0)
        }
      }
      bench.handle({ type: "media", leg: b, media: Media.dtmf(Ids.work("d"), "15#") })
      bench.run(1000)
      expect(bench.digitsOf(a)).toBe("15#")
    }
  )

  it("change over to another codec in the middle of a sound, on the same timeline", () => {
    const { bench, packets } = playing(tone(8000, 1000, 4000), {})
    bench.run(500)
    for (const [leg, peer] of [
      [a, b],
      [b, a]
    ] as const)
      bench.handle({ type: "connect_rtp", leg, remote: bench.remote(bench.portOf(peer), wideband) })
    bench.run(500)
    const sent = packets()
    expect(new Set(sent.slice(25).map(({ payloadType }) => payloadType))).toEqual(new Set([9]))
    sent.forEach((packet, i) => {
      expect((packet.timestamp - (sent[0]?.timestamp ?? 0)) >>> 0).toBe(i * 160)
    })
    expect(Goertzel.level(heardIn(sent.slice(25), "G722").subarray(1600), 1000, 16_000)).toBeCloseTo(-12, 0)
    expect(bench.plane.countersOf(b)?.concealed).toBe(0)
  })
})
