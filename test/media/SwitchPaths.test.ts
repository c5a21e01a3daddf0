import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as TelephoneEvent from "../../src/protocol/rtp/TelephoneEvent.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as Ids from "../support/Ids.ts"
import * as ForwardRig from "./support/ForwardRig.ts"
import { a, b } from "./support/ForwardRig.ts"
import * as Media from "./support/MediaSample.ts"
import * as Click from "./mix/Click.ts"

type Rig = ReturnType<typeof ForwardRig.make>

const wanted = {
  tracks: ["inbound", "outbound"],
  chunkMs: 20,
  mostRate: 48_000,
  mostWaiting: 1000,
  beeps: { atStart: false, everyMs: null }
} as const

const sounds = (rig: Rig, leg: typeof a, id: string, media: ReturnType<typeof Media.play>) => {
  rig.bench.handle({ type: "media", leg, media })
  const rate = rig.codec.sampleRate
  const sound = { rate, samples: Tone.sine(1700, -30, 90, rate) }
  rig.bench.handle({ type: "supply", leg, id: Ids.work(id), sound, isLast: true })
}

/** Each act brings a forwarding bridge back to frames, or adds a listener. It ends by itself or by a later act. */
const acts: Readonly<Record<string, (rig: Rig, leg: typeof a, id: string) => void>> = {
  play: (rig, leg, id) => sounds(rig, leg, id, Media.play(Ids.work(id), "https://a/")),
  speak: (rig, leg, id) => sounds(rig, leg, id, Media.speak(Ids.work(id), "words")),
  gather: (rig, leg, id) => sounds(rig, leg, id, Media.prompt(Ids.work(id), "words")),
  record: (rig, leg, id) => rig.bench.handle({ type: "capture", leg, id: Ids.work(id), wanted }),
  detect: (rig, leg, id) =>
    rig.bench.handle({ type: "media", leg, media: { type: "detect_machine", id: Ids.work(id) } }),
  stream: (rig, leg, id) => rig.stream(leg, id),
  streamEnds: (rig, leg) => rig.bench.handle({ type: "media", leg, media: { type: "stop_stream" } }),
  stop: (rig, leg) => rig.bench.handle({ type: "media", leg, media: Media.stopPlayback }),
  nothing: () => undefined
}

/** The quietest stretch of 20 ms, dBFS. */
const quietest = (sound: Int16Array, rate: number): number => {
  const window = rate / 50
  let found = Number.POSITIVE_INFINITY
  for (let at = 0; at + window <= sound.length; at += window / 2)
    found = Math.min(found, Goertzel.totalLevel(sound.subarray(at, at + window)))
  return found
}

const forwarding = (name: Codecs.CodecName) => {
  const rig = ForwardRig.make(name)
  rig.run(400)
  rig.bridge()
  rig.run(400)
  return rig
}
/** The time from which on packets pass. */
const passesAfterMs = 600

const names = ["PCMU", "PCMA", "G722", "OPUS", "L16"] as const

describe("A forwarding bridge", () => {
  it.prop(
    "comes to frames and goes back, whatever begins and ends on it, without a gap or a click, in one stream",
    [
      Schema.Literals(names),
      Schema.Array(
        Schema.Tuple([
          Schema.Literals(["play", "speak", "gather", "record", "detect", "stream", "streamEnds", "stop", "nothing"]),
          Schema.Literals(["a", "b"]),
          Schema.Literals([1, 3, 17, 60, 140, 410])
        ])
      )
    ],
    ([name, script]) => {
      const rig = forwarding(name)
      script.slice(0, 10).forEach(([act, side, ms], i) => {
        acts[act]?.(rig, Ids.leg(side), `w${i}`)
        rig.run(ms)
      })
      rig.run(600)
      const step = rig.codec.clockRate / 50
      for (const leg of [a, b]) {
        const received = rig.received(leg)
        const [first] = received
        received.forEach((packet, i) => {
          expect(packet.ssrc).toBe(first?.ssrc)
          expect((packet.sequenceNumber - (first?.sequenceNumber ?? 0)) & 0xffff).toBe(i)
          expect((packet.timestamp - (first?.timestamp ?? 0)) >>> 0).toBe(i * step)
        })
        const sound = ForwardRig.soundOf(received, rig.codec)
        expect(
          quietest(sound.subarray((rig.codec.sampleRate * passesAfterMs) / 1000), rig.codec.sampleRate)
        ).toBeGreaterThan(name === "OPUS" ? -24 : -20)
        if (name === "L16") expect(Click.largest(sound.subarray(passesAfterMs * 16))).toBeLessThan(1500)
      }
      expect(rig.bench.plane.couldForward(a)).toBe(true)
    },
    { arbitrary: { runs: 60 } }
  )

  it.each(names)("gives a stream both tracks, and the other peer what its server says, in %s", (name) => {
    const rig = forwarding(name)
    const rate = 16_000
    rig.stream(a, "agent", { codec: "L16", rate })
    rig.run(600)
    const heard = (track: string) =>
      Int16Array.from(
        rig
          .server()
          .received.map((text) => JSON.parse(text) as { event: string; media?: { track: string; payload: string } })
          .flatMap(({ media }) => (media?.track === track ? [...Buffer.from(media.payload, "base64")] : []))
          .flatMap((high, i, all) => (i % 2 === 0 ? [(high << 8) | (all[i + 1] ?? 0)] : []))
      )
    const [inbound, outbound] = [heard("inbound"), heard("outbound")]
    expect(Goertzel.level(inbound.subarray(-3200), 440, rate)).toBeCloseTo(-12, 0)
    expect(Goertzel.level(outbound.subarray(-3200), 550, rate)).toBeCloseTo(-12, 0)
    const answer = Buffer.from(Tone.sine(1700, -20, 300, rate).buffer).swap16()
    rig.server().say(
      JSON.stringify({
        event: "media",
        media: { payload: answer.toString("base64") }
      })
    )
    rig.run(200)
    // The sound is decoded from the beginning, because a decoder of G.722 has state.
    const sound = ForwardRig.soundOf(rig.received(a), rig.codec)
    const { sampleRate } = rig.codec
    const middle = sound.subarray(sound.length - sampleRate / 10)
    expect(Goertzel.level(middle, 1700, sampleRate)).toBeCloseTo(-20, 0)
    // Two tones at once cost Opus a decibel in one of them, depending on their phases.
    expect(Math.abs(Goertzel.level(middle, 550, sampleRate) + 12)).toBeLessThan(name === "OPUS" ? 1.5 : 0.5)
    rig.run(600)
    // Packets pass again; to the other peer they passed all the while.
    rig.forget()
    rig.run(200)
    expect(rig.received(a).every(({ at }) => at % 20 === 14)).toBe(true)
    expect(rig.received(b).every(({ at }) => at % 20 === 5)).toBe(true)
  })

  it("has no turns while nobody hears it; its reports go on, and what is asked of it is done in the next turn", () => {
    const rig = forwarding("PCMU")
    const { events, network, plane } = rig.bench
    rig.run(100)
    const turns = new Set<number | null>()
    rig.run(1000, (ms) => {
      rig.usual(ms)
      turns.add(plane.nextDue())
    })
    expect(turns.size).toBeLessThanOrEqual(12)
    const reports = () => network.sent.filter(({ channel }) => channel === "rtcp").length
    const before = reports()
    rig.run(16_000)
    expect(reports() - before).toBeGreaterThanOrEqual(4)
    const quality = events
      .flatMap((event) => (event.type === "quality" && event.leg === a ? [event.quality] : []))
      .at(-1)
    expect(quality?.packetsLost).toBe(0)
    expect(quality?.packetsReceived).toBeGreaterThan(700)
    expect(quality?.packetsSent).toBeGreaterThan(700)
    rig.forget()
    acts["play"]?.(rig, b, "now")
    rig.run(100)
    const sound = ForwardRig.soundOf(rig.received(b), rig.codec)
    expect(Goertzel.level(sound.subarray(240, 640), 1700, 8000)).toBeGreaterThan(-33)
  })

  it("sends a digit on at once that a peer presses as another source, whose packets do not pass", () => {
    const rig = forwarding("PCMU")
    rig.run(105)
    rig.forget()
    const { state } = rig.peers.a
    const [first] = TelephoneEvent.train("7", 100, 8000)
    if (first !== undefined)
      rig.peers.a.deliver({ ...state, ssrc: 77, marker: true, payloadType: 101, payload: first.payload })
    rig.run(40)
    const events = rig.received(b).filter(({ payloadType }) => payloadType === 101)
    expect(events[0]?.payload[0]).toBe(7)
    expect(rig.bench.digitsOf(a)).toBe("7")
  })

  it("goes on in frames at once when a peer changes over to another codec unasked", () => {
    const rig = forwarding("PCMU")
    const pcma = ForwardRig.make("PCMA").peers.a
    rig.run(400, (ms) => {
      if (ms % 20 === 4) {
        const { payload } = pcma.make()
        rig.peers.a.deliver({ ...rig.peers.a.make(), payloadType: 8, payload })
      }
      if (ms % 20 === 13) rig.peers.b.deliver(rig.peers.b.make())
    })
    const received = rig.received(b).slice(-20)
    expect((received.at(-1)?.at ?? 0) - (received[0]?.at ?? 0)).toBeLessThanOrEqual(400)
    const sound = ForwardRig.soundOf(received, rig.codec)
    expect(Goertzel.level(sound.subarray(-800), 440, 8000)).toBeCloseTo(-12, 0)
    expect(rig.bench.plane.couldForward(a)).toBe(false)
  })
})
