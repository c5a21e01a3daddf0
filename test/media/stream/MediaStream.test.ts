import { describe, expect, it } from "@effect/vitest"
import * as G711 from "../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { Options } from "../../../src/ports/media/StreamMessages.ts"
import * as Ids from "../../support/Ids.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Media from "../support/MediaSample.ts"
import * as StreamBench from "./StreamBench.ts"
import * as WireLeg from "./WireLeg.ts"

const { markOf, mediaOf } = StreamBench

/** An RTP leg that sends speech, with a connected stream. */
const setup = (change: Partial<Options> = {}) => {
  const bench = StreamBench.make()
  const wire = WireLeg.make(bench)
  wire.connect()
  bench.run(100)
  bench.start(wire.leg, change)
  bench.run(100)
  wire.heard()
  return { bench, wire }
}

const isSilent = (octets: Uint8Array) => octets.every((octet) => octet === WireLeg.silence)

describe("What a stream's server is sent, guide/streams.md#messages", () => {
  it("begins with connected and start, then media every 20 ms, silence included", () => {
    const { bench } = setup()
    bench.run(1000)
    expect(bench.got.slice(0, 2).map(({ event }) => event)).toEqual(["connected", "start"])
    expect(bench.got[1]?.message).toEqual({
      event: "start",
      sequence_number: "1",
      stream_id: "svc_stream_one",
      start: {
        user_id: "tenant",
        call_control_id: "call",
        call_session_id: "call",
        call_leg_id: "leg",
        from: "+12025550150",
        to: "+12025550100",
        tags: [],
        client_state: null,
        custom_parameters: {},
        media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 }
      }
    })
    const media = bench.of("media")
    expect(media.length).toBeGreaterThan(48)
    media.forEach(({ message }, index) => {
      expect(message.media.chunk).toBe(String(index + 1))
      expect(message.media.timestamp).toBe(String(index * 20))
      expect(message.sequence_number).toBe(String(index + 2))
      expect(isSilent(Buffer.from(message.media.payload, "base64"))).toBe(true)
    })
  })

  it("in Twilio's dialect has its names, and our ids", () => {
    const { bench } = setup({ protocol: "twilio", parameters: [{ name: "agent", value: "7" }] })
    expect(bench.got[0]?.message).toEqual({ event: "connected", protocol: "Call", version: "1.0.0" })
    expect(bench.got[1]?.message).toEqual({
      event: "start",
      sequenceNumber: "1",
      streamSid: "svc_stream_one",
      start: {
        accountSid: "tenant",
        streamSid: "svc_stream_one",
        callSid: "call",
        tracks: ["inbound"],
        customParameters: { agent: "7" },
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 }
      }
    })
    bench.run(100)
    const [first] = bench.of("media")
    expect(first?.message).toMatchObject({
      sequenceNumber: "2",
      streamSid: "svc_stream_one",
      media: { track: "inbound", chunk: "1", timestamp: "0" }
    })
  })

  it("has what the far end says in the millisecond in which its packet comes, octet by octet", () => {
    const { bench, wire } = setup()
    bench.run(200)
    const before = bench.of("media").length
    const spoken = Array.from({ length: 50 }, (_, i) => WireLeg.sound(160, i + 1))
    const late: Array<number> = []
    for (const payload of spoken) {
      let told = false
      bench.run(20, (now) => {
        if (!told) {
          wire.speak(payload)
          told = true
        }
        const last = bench.socket().received.at(-1) ?? ""
        if (late.length < spoken.indexOf(payload) + 1 && last.includes(StreamBench.base64(payload))) late.push(now)
      })
    }
    const media = bench.of("media").slice(before)
    const payloads = media.map(({ message }) => message.media.payload)
    const first = payloads.indexOf(StreamBench.base64(spoken[0] ?? new Uint8Array()))
    expect(first).toBeGreaterThanOrEqual(0)
    expect(spoken.every((payload, i) => payloads[first + i] === StreamBench.base64(payload))).toBe(true)
    expect(late.length).toBe(50)
    // Each message is sent in the step in which its packet arrived.
    expect(late.every((at, i) => i === 0 || at - (late[i - 1] ?? 0) === 20)).toBe(true)
  })

  it("keeps its time through loss, silence and a burst behind a stall", () => {
    const { bench, wire } = setup()
    const frame = WireLeg.sound(160, 3)
    for (let i = 0; i < 50; i++) {
      bench.run(20)
      wire.speak(frame, i === 20 ? 2 : 0)
    }
    bench.run(400)
    for (let i = 0; i < 20; i++) wire.speak(frame)
    for (let i = 0; i < 20; i++) {
      bench.run(20)
      wire.speak(frame)
    }
    bench.run(1)
    const media = bench.of("media")
    media.forEach(({ message }, index) => expect(message.media.timestamp).toBe(String(index * 20)))
    const last = media.at(-1)
    const elapsed = (last?.at ?? 0) - (media[0]?.at ?? 0)
    expect(Math.abs(Number(last?.message.media.timestamp) - elapsed)).toBeLessThanOrEqual(160)
  })

  it("loses nothing of a stall or of packets in another order when it only listens, or waits as long as it was asked to", () => {
    for (const change of [{ hears: null }, { hears: "rtp", jitterMs: 400 }] as const) {
      const { bench, wire } = setup(change)
      const spoken = Array.from({ length: 60 }, (_, i) => WireLeg.sound(160, i + 1))
      for (const [i, payload] of spoken.entries()) {
        // 300 ms without a packet, and then all of them at once.
        if (i < 20 || i >= 35) bench.run(20)
        else if (i === 20) bench.run(300)
        // Two packets change places, and one of them comes 100 ms late.
        if (i === 45) continue
        wire.speak(payload, i === 46 ? 1 : 0)
        if (i === 50) wire.late(spoken[45] ?? payload, 45)
      }
      bench.run(600)
      const payloads = bench.of("media").map(({ message }) => message.media.payload)
      const first = payloads.indexOf(StreamBench.base64(spoken[0] ?? new Uint8Array()))
      expect(first).toBeGreaterThanOrEqual(0)
      expect(payloads.slice(first, first + 60)).toEqual(spoken.map(StreamBench.base64))
      bench.of("media").forEach(({ message }, index) => expect(message.media.timestamp).toBe(String(index * 20)))
    }
  })

  it("gives up a packet that never comes when the sound after it has waited, and keeps the places of the others", () => {
    const { bench, wire } = setup({ hears: null })
    const spoken = Array.from({ length: 60 }, (_, i) => WireLeg.sound(160, i + 1))
    for (const [i, payload] of spoken.entries()) {
      bench.run(20)
      if (i !== 10) wire.speak(payload, i === 11 ? 1 : 0)
    }
    bench.run(600)
    const payloads = bench.of("media").map(({ message }) => message.media.payload)
    const first = payloads.indexOf(StreamBench.base64(spoken[0] ?? new Uint8Array()))
    const silent = StreamBench.base64(new Uint8Array(160).fill(WireLeg.silence))
    expect(payloads.slice(first, first + 60)).toEqual(
      spoken.map((payload, i) => (i === 10 ? silent : StreamBench.base64(payload)))
    )
  })

  it("tells both tracks apart: what the far end says, and what it hears", () => {
    const { bench, wire } = setup({ track: "both_tracks", hears: "rtp" })
    const frame = WireLeg.sound(160, 5)
    bench.say(mediaOf(G711.encode("PCMU", Tone.sine(1000, -12, 600, 8000))))
    for (let i = 0; i < 25; i++) {
      bench.run(20)
      wire.speak(frame)
    }
    const of = (track: string) => bench.of("media").filter(({ message }) => message.media.track === track)
    const [inbound, outbound] = [of("inbound"), of("outbound")]
    inbound.forEach(({ message }, index) => expect(message.media.chunk).toBe(String(index + 1)))
    outbound.forEach(({ message }, index) => expect(message.media.chunk).toBe(String(index + 1)))
    const heard = outbound.slice(-15).flatMap(({ message }) => [...Buffer.from(message.media.payload, "base64")])
    expect(Goertzel.level(G711.decode("PCMU", Uint8Array.from(heard)), 1000, 8000)).toBeCloseTo(-12, 0)
    expect(inbound.at(-1)?.message.media.payload === StreamBench.base64(frame)).toBe(true)
  })

  it("has the digits of the far end", () => {
    const { bench } = setup()
    bench.plane.handle(
      { type: "open_phone", leg: Ids.leg("phone"), script: { type: "press", digits: "7#", afterMs: 200, everyMs: 0 } },
      0
    )
    bench.start(Ids.leg("phone"), {}, "two")
    bench.run(600)
    expect(bench.of("dtmf").map(({ message }) => message.dtmf.digit)).toEqual(["7", "#"])
    expect(bench.of("dtmf")[0]?.message.occurred_at).toMatch(/^2023-11-14T22:13:\d\d\.\d{3}Z$/)
  })

  it("is transcoded to the codec that was asked for, in both directions", () => {
    for (const [codec, rate, encoding, sampleRate] of [
      ["PCMA", null, "PCMA", 8000],
      ["L16", 16_000, "L16", 16_000],
      ["L16", 24_000, "L16", 24_000],
      ["G722", null, "G722", 8000],
      ["OPUS", 16_000, "OPUS", 16_000]
    ] as const) {
      const { bench, wire } = setup({ codec, rate })
      const tone = G711.encode("PCMU", Tone.sine(700, -12, 1000, 8000))
      for (let i = 0; i < 50; i++) {
        bench.run(20)
        wire.speak(tone.subarray(i * 160, (i + 1) * 160))
      }
      expect(bench.got[1]?.message.start.media_format).toEqual({ encoding, sample_rate: sampleRate, channels: 1 })
      // The sent payloads are sent back unchanged.
      const payloads = bench
        .of("media")
        .slice(-40)
        .map(({ message }) => message.media.payload)
      wire.heard()
      for (const payload of payloads) bench.say({ event: "media", media: { payload } })
      bench.run(700)
      const back = G711.decode("PCMU", wire.heard())
      expect([codec, Goertzel.level(back.subarray(1600, 4800), 700, 8000)]).toEqual([codec, expect.closeTo(-12, 0)])
    }
  })
})

describe("What a stream's server says, guide/streams.md#what-is-heard-when", () => {
  it("is heard sample by sample whatever the sizes of its messages, and without a seam", () => {
    const { bench, wire } = setup()
    const speech = WireLeg.sound(16_000, 1)
    for (let at = 0, size = 1; at < speech.length; at += size, size = (size * 7 + 13) % 997)
      bench.say(mediaOf(speech.subarray(at, at + size)))
    bench.run(2200)
    expect(WireLeg.find(wire.heard(), speech)).toBeGreaterThanOrEqual(0)
  })

  it("joins odd octets of L16 across messages", () => {
    const { bench, wire } = setup({ codec: "L16", rate: 8000 })
    const linear = Tone.sine(500, -10, 1000, 8000)
    const bytes = new Uint8Array(linear.length * 2)
    linear.forEach((sample, i) => bytes.set([sample >> 8, sample & 0xff], 2 * i))
    for (let at = 0; at < bytes.length; at += 4095) bench.say(mediaOf(bytes.subarray(at, at + 4095)))
    bench.run(1200)
    expect(WireLeg.find(wire.heard(), G711.encode("PCMU", linear))).toBeGreaterThanOrEqual(0)
  })

  it("begins at the next 20 ms when it comes at once, and 60 ms later when it trickles", () => {
    const { bench, wire } = setup()
    bench.say(mediaOf(WireLeg.sound(8000, 2)))
    let startedAfter = 0
    bench.run(40, () => {
      if (startedAfter === 0 && !isSilent(wire.heard())) startedAfter = -1
      else if (startedAfter === 0) startedAfter = 0
    })
    expect(startedAfter).toBe(-1)
    const trickle = setup()
    const octets = WireLeg.sound(480, 4)
    const heard: Array<number> = []
    let ms = 0
    trickle.bench.run(120, () => {
      if (ms % 20 === 0 && ms < 60) trickle.bench.say(mediaOf(octets.subarray(ms * 8, ms * 8 + 160)))
      ms++
      if (!isSilent(trickle.wire.heard())) heard.push(ms)
    })
    expect(heard[0]).toBeGreaterThan(40)
    expect(heard[0]).toBeLessThanOrEqual(81)
  })

  it("stops within the frame in which clear comes, and no sample of it comes back with what follows", () => {
    const { bench, wire } = setup()
    const old = WireLeg.sound(80_000, 6)
    bench.say(mediaOf(old))
    bench.run(1000)
    expect(isSilent(wire.heard())).toBe(false)
    bench.say({ event: "clear" })
    bench.run(20)
    // 4 ms fade out; each of their samples differs from the sent one.
    const frame = wire.heard()
    expect(isSilent(frame.subarray(32))).toBe(true)
    expect(WireLeg.find(old, frame.subarray(0, 16))).toBe(-1)
    const fresh = WireLeg.sound(1600, 7)
    bench.say(mediaOf(fresh))
    bench.run(400)
    const heard = wire.heard()
    const at = WireLeg.find(heard, fresh)
    expect(at).toBeGreaterThanOrEqual(0)
    expect(isSilent(heard.subarray(0, at))).toBe(true)
  })

  it("lets marks come back with the last sample before them, in order, and at once where nothing waits", () => {
    const { bench, wire } = setup({ protocol: "twilio" })
    bench.say(markOf("early"))
    bench.run(1)
    expect(bench.of("mark").map(({ message }) => message.mark)).toEqual([{ name: "early" }])
    const first = bench.of("mark")[0]?.at ?? 0
    bench.say(mediaOf(WireLeg.sound(1600, 8)))
    bench.say(markOf("responsePart"))
    bench.say(mediaOf(WireLeg.sound(1600, 9)))
    bench.say(markOf("responsePart"))
    bench.say(markOf("last"))
    bench.run(600)
    const marks = bench.of("mark").slice(1)
    expect(marks.map(({ message }) => message.mark)).toEqual([
      { name: "responsePart" },
      { name: "responsePart" },
      { name: "last" }
    ])
    // 200 ms and 400 ms of sound, from the next 20 ms on.
    expect((marks[0]?.at ?? 0) - first).toBeGreaterThanOrEqual(180)
    expect((marks[0]?.at ?? 0) - first).toBeLessThanOrEqual(221)
    expect((marks[1]?.at ?? 0) - (marks[0]?.at ?? 0)).toBe(200)
    expect(wire.heard().length).toBeGreaterThan(0)
  })

  it("tells marks that were cleared from those that were heard, and answers every mark before stop", () => {
    const { bench, wire } = setup()
    bench.say(mediaOf(WireLeg.sound(4000, 10)))
    bench.say(markOf("a"))
    bench.say({ event: "clear" })
    bench.say(mediaOf(WireLeg.sound(4000, 11)))
    bench.say(markOf("b"))
    bench.run(40)
    bench.stop(wire.leg)
    bench.run(1)
    expect(bench.got.slice(-2).map(({ event }) => event)).toEqual(["mark", "stop"])
    expect(bench.of("mark").map(({ message }) => message.mark)).toEqual([
      { name: "a", cleared: true },
      { name: "b", cleared: true }
    ])
  })

  it("is heard beside a playback's end, waits for digits, and is not heard without a mode", () => {
    const { bench, wire } = setup({ hears: null })
    bench.say(mediaOf(WireLeg.sound(8000, 12)))
    bench.run(400)
    expect(isSilent(wire.heard())).toBe(true)
    expect(bench.of("error").map(({ message }) => message.payload.code)).toEqual([100_004])
    const other = setup()
    const speech = WireLeg.sound(3200, 13)
    other.bench.handle({ type: "media", leg: other.wire.leg, media: Media.dtmf(Ids.work("d"), "5", 200) })
    other.bench.say(mediaOf(speech))
    other.bench.run(1200)
    expect(WireLeg.find(other.wire.heard(), speech.subarray(320))).toBeGreaterThanOrEqual(0)
  })

  it("waits until the leg can hear, and nothing of it is lost", () => {
    const bench = StreamBench.make()
    const wire = WireLeg.make(bench)
    bench.start(wire.leg)
    bench.run(100)
    const greeting = WireLeg.sound(4000, 14)
    bench.say(mediaOf(greeting))
    bench.run(500)
    wire.connect()
    bench.run(700)
    expect(WireLeg.find(wire.heard(), greeting)).toBeGreaterThanOrEqual(0)
    expect(bench.media(wire.leg)).toContainEqual({ type: "stream_started", id: Ids.work("one") })
  })

  it("gets more room when it runs dry in the middle of speech, and repeats nothing", () => {
    const { bench, wire } = setup()
    const speech = WireLeg.sound(24_000, 15)
    // The sound comes 40 ms at a time, with a stall of 150 ms every half second.
    let at = 0
    let due = 0
    let ms = 0
    bench.run(4500, () => {
      if (ms >= due && at < speech.length) {
        bench.say(mediaOf(speech.subarray(at, at + 320)))
        at += 320
        due = ms + (at % 4160 === 0 ? 190 : 40)
      }
      ms++
    })
    expect(bench.figures.underruns).toBeGreaterThan(0)
    const heard = wire.heard()
    // Every frame comes once and in order.
    let from = 0
    for (let i = 0; i + 160 <= speech.length; i += 160) {
      const found = WireLeg.find(heard.subarray(from), speech.subarray(i, i + 100))
      expect([i, found >= 0]).toEqual([i, true])
      from += found + 100
    }
  })
})

describe("A stream", () => {
  it("is tried three times within ten seconds, then fails", () => {
    const bench = StreamBench.make({
      accept: (connection) => connection.end({ reason: "connect", code: null, detail: "ECONNREFUSED" })
    })
    const wire = WireLeg.make(bench)
    wire.connect()
    bench.start(wire.leg)
    bench.run(10_100)
    expect(bench.connections.length).toBe(3)
    expect(bench.media(wire.leg)).toEqual([Media.failed(Ids.work("one"), "connection_failed: ECONNREFUSED")])
    expect(bench.figures).toMatchObject({ open: 0, failed: { connection_failed: 1 } })
  })

  it("keeps two seconds of the call from before it was connected, at most", () => {
    const bench = StreamBench.make({ accept: () => undefined })
    const wire = WireLeg.make(bench)
    wire.connect()
    bench.run(20)
    bench.start(wire.leg)
    bench.run(20)
    for (let i = 0; i < 150; i++) {
      bench.run(20)
      wire.speak(WireLeg.sound(160, i))
    }
    bench.socket().accept()
    bench.run(200)
    const payloads = bench.of("media").map(({ message }) => message.media.payload)
    expect(payloads[0] === StreamBench.base64(WireLeg.sound(160, 50))).toBe(true)
    expect(bench.of("media")[0]?.message.media.timestamp).toBe("0")
    expect(payloads.length).toBeGreaterThanOrEqual(100)
  })

  it("stops when its server closes, and the leg goes on", () => {
    const { bench, wire } = setup()
    bench.socket().end({ reason: "closed", code: 1000, detail: "" })
    bench.run(200)
    expect(bench.media(wire.leg).at(-1)).toEqual({ ...Media.stopped(Ids.work("one")) })
    expect(wire.heard().length).toBeGreaterThan(0)
    bench.start(wire.leg, {}, "two")
    bench.run(40)
    expect(bench.media(wire.leg).at(-1)).toEqual({ type: "stream_started", id: Ids.work("two") })
  })

  it("outlives a restart of its server when it asks for that: the call waits with a tone, and what waited comes back cleared", () => {
    const { bench, wire } = setup({ reconnectSecs: 30 })
    bench.say(mediaOf(WireLeg.sound(80_000, 3)))
    bench.say(markOf("a"))
    bench.run(100)
    const first = bench.socket()
    first.end({ reason: "closed", code: 1012, detail: "restart" })
    bench.run(100)
    wire.heard()
    expect(bench.figures.open).toBe(0)
    // The dropped sound is not heard; then comes the tone, and the new connection after 250 ms.
    bench.run(200)
    expect(bench.connections.length).toBe(2)
    const before = bench.got.length
    bench.run(100)
    expect(bench.got.slice(0, before).map(({ event }) => event)).toContain("start")
    const again = bench.socket().received.map((text) => JSON.parse(text) as { readonly event: string })
    expect(again.slice(0, 3)).toMatchObject([
      { event: "connected" },
      { event: "start", start: { reconnected: true } },
      { event: "mark", mark: { name: "a", cleared: true } }
    ])
    expect(bench.figures.open).toBe(1)
    expect(bench.media(wire.leg).map(({ type }) => type)).toEqual(["stream_started"])
    // The new connection is heard, and the tone no more.
    const spoken = WireLeg.sound(800, 4)
    wire.heard()
    bench.say(mediaOf(spoken))
    bench.run(300)
    expect(WireLeg.find(wire.heard(), spoken)).toBeGreaterThanOrEqual(0)
  })

  it("plays a tone while its server is away, tries again with growing pauses, and fails when the time is over", () => {
    let isUp = true
    const bench = StreamBench.make({ reach: () => isUp })
    const wire = WireLeg.make(bench)
    wire.connect()
    bench.run(100)
    bench.start(wire.leg, { reconnectSecs: 10 })
    bench.run(100)
    isUp = false
    const reaches = () => bench.asks.filter(({ type }) => type === "stream_reach").length
    const refuse = () =>
      bench.handle({ type: "stream_unreachable", leg: wire.leg, id: Ids.work("one"), detail: "down", isFinal: false })
    wire.heard()
    bench.socket().end({ reason: "reset", code: null, detail: "cut" })
    const at: Array<number> = []
    let seen = reaches()
    let ms = 0
    for (; ms < 12_000 && bench.media(wire.leg).at(-1)?.type !== "ended"; ms++) {
      bench.run(1)
      if (reaches() === seen) continue
      seen = reaches()
      at.push(ms)
      refuse()
    }
    expect(at.map((each, i) => Math.round((each - (at[i - 1] ?? 0)) / 100) * 100)).toEqual([
      300, 500, 1_000, 2_000, 4_000
    ])
    expect(isSilent(wire.heard())).toBe(false)
    expect(bench.media(wire.leg).at(-1)).toMatchObject({ type: "ended", status: "failed" })
    bench.run(100)
    wire.heard()
    bench.run(4_000)
    expect(isSilent(wire.heard())).toBe(true)
  })

  it("does not connect again when its server is done, or breaks the protocol", () => {
    for (const [closed, status] of [
      [{ reason: "closed", code: 1000, detail: "" }, "stopped"],
      [{ reason: "closed", code: 1005, detail: "" }, "stopped"],
      [{ reason: "protocol", code: null, detail: "" }, "failed"]
    ] as const) {
      const { bench, wire } = setup({ reconnectSecs: 30 })
      bench.socket().end(closed)
      bench.run(1_000)
      expect(bench.connections.length).toBe(1)
      expect(bench.media(wire.leg).at(-1)).toMatchObject({ type: "ended", status })
    }
  })

  it("sends the token as bearer, and asks for no subprotocol", () => {
    const { bench } = setup({ token: "s3cret" })
    expect(bench.socket().options).toMatchObject({
      headers: { authorization: "Bearer s3cret" },
      protocols: [],
      maxMessageBytes: 1024 * 1024,
      pingMs: 20_000
    })
  })

  it("loses the oldest sound of a server that does not read, says so in the timestamps, and fails after ten seconds", () => {
    const { bench, wire } = setup()
    bench.socket().isReading = false
    bench.run(6000)
    expect(bench.figures.droppedMs).toBeGreaterThan(2500)
    expect(bench.figures.open).toBe(1)
    bench.run(5000)
    expect(bench.media(wire.leg).at(-1)).toEqual(
      Media.failed(Ids.work("one"), "connection_failed: the server reads too slowly")
    )
    bench.run(20)
    const times = bench.of("media").map(({ message }) => Number(message.media.timestamp))
    const jumps = times.filter((time, i) => i > 0 && time - (times[i - 1] ?? 0) !== 20)
    expect(jumps.length).toBe(1)
  })

  it("answers garbage with an error a second, and fails after a hundred in a row", () => {
    const { bench, wire } = setup()
    for (let i = 0; i < 90; i++) {
      bench.socket().say("{")
      bench.socket().say(new Uint8Array(10))
      bench.say({ event: "something" })
      bench.run(20)
    }
    expect(bench.of("error").map(({ message }) => message.payload.code)).toEqual([100_003, 100_003])
    for (let i = 0; i < 100; i++) bench.socket().say("[]")
    expect(bench.media(wire.leg).at(-1)).toEqual(
      Media.failed(Ids.work("one"), "protocol_error: the server sends what is no message")
    )
    bench.run(100)
    expect(wire.heard().length).toBeGreaterThan(0)
  })

  it("says nothing of errors in Twilio's dialect", () => {
    const { bench } = setup({ protocol: "twilio" })
    bench.socket().say("{")
    bench.run(40)
    expect(bench.of("error")).toEqual([])
  })

  it("reads a flood later, and goes on with it", () => {
    const { bench } = setup()
    for (let i = 0; i < 6000; i++) bench.say({ event: "x" })
    expect(bench.socket().isPaused).toBe(true)
    bench.run(2000)
    expect(bench.socket().isPaused).toBe(false)
  })

  it("answers ten thousand marks at once: a thousand when they were heard, the others cleared, with the reason", () => {
    const { bench, wire } = setup()
    bench.say(mediaOf(WireLeg.sound(16_000, 3)))
    for (let n = 0; n < 10_000; n++) bench.say(markOf(`m${n}`))
    bench.run(3_000)
    expect(bench.media(wire.leg).filter(({ type }) => type === "ended")).toEqual([])
    const marks = bench.of("mark")
    expect(marks.length).toBe(10_000)
    expect(marks.filter(({ message }) => message.mark.cleared !== true).length).toBe(1_000)
    expect(bench.of("error").map(({ message }) => message.payload.code)).toEqual([100_005])
  })

  it("reads no more of a server that does not read its answers, and does not blame it for marks", () => {
    const { bench, wire } = setup()
    const server = bench.socket()
    server.isReading = false
    let said = 0
    for (; said < 10_000 && !server.isPaused; said++) bench.say(markOf(`m${said}`))
    expect(said).toBeLessThan(1_500)
    bench.run(9_000)
    expect(bench.media(wire.leg).filter(({ type }) => type === "ended")).toEqual([])
    bench.run(2_000)
    expect(bench.media(wire.leg).at(-1)).toMatchObject({
      type: "ended",
      reason: "connection_failed: the server reads too slowly"
    })
  })

  it("drops the newest beyond ten minutes, whose marks come back cleared, and says so", () => {
    const { bench } = setup()
    const minute = WireLeg.sound(480_000, 16)
    for (let i = 0; i < 11; i++) bench.say(mediaOf(minute))
    bench.say(markOf("lost"))
    bench.run(40)
    expect(bench.of("error").map(({ message }) => message.payload.code)).toEqual([100_005])
    expect(bench.figures.droppedMs).toBe(60_000)
    bench.say({ event: "clear" })
    bench.run(40)
    expect(bench.of("mark").map(({ message }) => message.mark)).toEqual([{ name: "lost", cleared: true }])
    expect(bench.capacity.used()).toBe(0)
  })

  it("ends with its leg: the server is told, and no room is held", () => {
    const { bench, wire } = setup()
    bench.say(mediaOf(WireLeg.sound(8000, 17)))
    bench.say(markOf("m"))
    bench.run(20)
    bench.handle({ type: "close", leg: wire.leg })
    bench.run(1)
    expect(bench.got.slice(-2).map(({ event }) => event)).toEqual(["mark", "stop"])
    expect(bench.socket().closedWith).toBe(1000)
    expect(bench.capacity.used()).toBe(0)
    expect(bench.figures.open).toBe(0)
  })

  it("is one for a leg: a second fails, and the same again changes nothing", () => {
    const { bench, wire } = setup()
    bench.start(wire.leg)
    bench.start(wire.leg, {}, "two")
    expect(bench.connections.length).toBe(1)
    expect(bench.media(wire.leg).at(-1)).toEqual(Media.failed(Ids.work("two"), "carrier_error: the leg has a stream"))
  })

  it("hears and is heard while its leg is bridged", () => {
    const { bench, wire } = setup({ track: "both_tracks" })
    const other = Ids.leg("echo")
    const beeps = { sound: "tone", ms: 500, components: [{ frequency: 1000, dbfs: -10 }] } as const
    const parts = [{ sound: "speech", ms: 3000 }, beeps] as const
    bench.handle({ type: "open_phone", leg: other, script: { type: "plays", parts, repeats: false } })
    bench.handle({ type: "bridge", leg: wire.leg, peer: other })
    bench.say(mediaOf(G711.encode("PCMU", Tone.sine(3000, -20, 4000, 8000))))
    wire.heard()
    bench.run(3400)
    const heard = G711.decode("PCMU", wire.heard())
    expect(Goertzel.level(heard.subarray(8000, 16_000), 3000, 8000)).toBeCloseTo(-20, 0)
    const beep = heard.subarray(-2400)
    expect(Goertzel.level(beep, 1000, 8000)).toBeGreaterThan(-20)
    const told = bench
      .of("media")
      .filter(({ message }) => message.media.track === "outbound")
      .slice(-15)
    const sound = G711.decode(
      "PCMU",
      Uint8Array.from(told.flatMap(({ message }) => [...Buffer.from(message.media.payload, "base64")]))
    )
    expect(Goertzel.level(sound, 1000, 8000)).toBeGreaterThan(-20)
  })
})
