import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { MPEGDecoder } from "mpg123-decoder"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as RecorderWorld from "../telephony/recording/RecorderWorld.ts"
import * as Measure from "./Measure.ts"
import type * as Phone from "./Phone.ts"
import * as Timeline from "./Timeline.ts"
import * as World from "./World.ts"

/** The contents of recordings of calls over SIP and RTP on loopback (guide/recordings.md). */
const caller: Phone.Voice = { hz: 900, dbfs: -14 }
const callee: Phone.Voice = { hz: 700, dbfs: -17 }
const played: Phone.Voice = { hz: 1100, dbfs: -20 }
const playedMs = 1000

let world: World.World
let sound = ""

beforeAll(async () => {
  world = await World.start({ RINGBACK_COUNTRY: "CN" })
  const samples = Tone.sine(played.hz, played.dbfs, playedMs, 16_000)
  sound = world.serve("tone.wav", Wav.write({ sampleRate: 16_000, samples }))
})
afterAll(() => world?.stop())

/** Starts a stopwatch in ms, because calls of the API lengthen the actions between them. */
const clock = () => {
  const beganMs = performance.now()
  return () => performance.now() - beganMs
}

const record = (line: World.Line, channels = "dual", format = "wav") =>
  world.act(line, "start_recording", { channels, format })

/** The channels of an MP3 file, of which the decoder always gives two. */
const mp3 = async (bytes: Uint8Array) => {
  const decoder = new MPEGDecoder()
  await decoder.ready
  const { channelData, sampleRate } = decoder.decode(bytes)
  decoder.free()
  return { rate: sampleRate, channels: channelData.map((channel) => Int16Array.from(channel, (each) => each * 32_767)) }
}

/** The channels of the recording of a call, once it is stored. */
const recorded = async (line: World.Line): Promise<ReadonlyArray<Timeline.Sound>> => {
  const told = await world.event("recording.completed", line.id)
  const response = await fetch(String(told["download_url"]))
  expect(response.status).toBe(200)
  const bytes = new Uint8Array(await response.arrayBuffer())
  expect(bytes.length).toBe((await world.ask("GET", `/v1/recordings/${String(told["recording_id"])}`)).size_bytes)
  const { channels, rate } = Wav.isWav(bytes) ? RecorderWorld.wav(bytes) : await mp3(bytes)
  expect((channels[0]?.length ?? 0) / rate).closeTo(Number(told["duration_seconds"]), 1.1)
  return channels.map((samples) => ({ rate, samples, fromMs: 0 }))
}
const two = async (line: World.Line): Promise<readonly [left: Timeline.Sound, right: Timeline.Sound]> => {
  const [left, right] = await recorded(line)
  if (left === undefined || right === undefined) throw new Error("the recording has one channel")
  return [left, right]
}

const isAbsent = (sound: Timeline.Sound, { hz }: Phone.Voice): void =>
  expect(Measure.loudest(sound, hz)).toBeLessThan(-45)
/** `stood`: how long the machine stood still meanwhile. */
const isWhole = (span: Measure.Span, { dbfs }: Phone.Voice, stood: number, leastMs: number, mostMs: number): void => {
  expect(span.dbfs).closeTo(dbfs, 1)
  expect(span.gapMs).toBeLessThanOrEqual(40 + stood)
  expect(span.toMs - span.fromMs).toBeGreaterThan(leastMs - stood)
  expect(span.toMs - span.fromMs).toBeLessThan(mostMs + stood)
}
/** Compares with the steady parts: 100 ms and more within the span. */
const isSmooth = (sound: Timeline.Sound, way: Measure.Way, ...spans: ReadonlyArray<Measure.Span>): void => {
  const steady = spans.map((span) => Timeline.part(sound, span.fromMs + 100, span.toMs - 100))
  expect(Measure.clicks(sound, way, steady)).toEqual([])
}
const bridge = async (one: World.Line, other: World.Line) => {
  const { legs } = await world.ask("GET", `/v1/calls/${other.id}`)
  await world.act(one, "bridge", { leg_id: legs[0]?.id })
  await world.event("call.bridged", other.id)
}

describe("A recording", World.onceMore, () => {
  const rows: ReadonlyArray<
    readonly [codec: CodecName, channels: "single" | "dual", format: "wav" | "mp3", rate: number]
  > = [
    ["PCMU", "dual", "wav", 8000],
    ["PCMA", "single", "wav", 8000],
    ["PCMU", "dual", "mp3", 8000],
    ["G722", "dual", "wav", 16_000],
    ["OPUS", "dual", "mp3", 16_000],
    ["L16", "single", "mp3", 16_000]
  ]
  it.concurrent.each(rows)(
    "of a call in %s, %s, as %s, has both sides whole, each on its channel, at %i Hz",
    async (codec, channels, format, rate) => {
      const line = await world.callIn(world.plan(codec, caller))
      const passed = clock()
      await record(line, channels, format)
      await World.sleep(300)
      await world.act(line, "play", { url: sound })
      await world.event("call.playback_ended", line.id)
      await World.sleep(300)
      await world.hangUp(line)
      const [mostMs, stood] = [passed() + 100, await world.stood(line)]
      const tracks = await recorded(line)
      expect(tracks[0]?.rate).toBe(rate)
      if (format === "wav") expect(tracks.length).toBe(channels === "dual" ? 2 : 1)
      const [left, right] = [tracks[0], tracks.at(-1)]
      if (left === undefined || right === undefined) throw new Error("nothing was recorded")
      // MP3 spreads an onset over its frame, and adds noise there.
      const coded = format === "mp3" ? { leastDbfs: -30 } : {}
      isWhole(Measure.span(left, caller), caller, stood, playedMs + 500, mostMs)
      isWhole(Measure.span(right, played), played, stood, playedMs - 60, playedMs + 60)
      if (channels === "dual") {
        isAbsent(left, played)
        isAbsent(right, caller)
        // In what follows its own beginning and end would be the largest.
        isSmooth(right, { codecs: [codec], voices: [played], stood, ...coded }, Measure.span(right, played))
      }
      isSmooth(
        Timeline.part(left, 100),
        { codecs: [codec], voices: [caller, played], stood, ...coded },
        Measure.span(right, played)
      )
    }
  )

  it("of a wideband call has what a narrow one cannot carry", async () => {
    const high = { hz: 5000, dbfs: -20 }
    const line = await world.callIn(world.plan("G722", high))
    await record(line)
    await World.sleep(1000)
    await world.hangUp(line)
    const [left] = await two(line)
    expect(Measure.span(left, high).dbfs).closeTo(high.dbfs, 1)
  })

  it.concurrent("goes on through a hold, which is silence of its length", async () => {
    const line = await world.callIn(world.plan("PCMA", caller))
    const passed = clock()
    await record(line)
    await World.sleep(600)
    await world.phones.act(line.number, { type: "hold", held: true })
    const held = clock()
    await World.sleep(800)
    await world.phones.act(line.number, { type: "hold", held: false })
    const heldMs = held()
    await World.sleep(800)
    await world.hangUp(line)
    const mostMs = passed() + 100
    const [left, right] = await two(line)
    const all = Measure.span(left, caller)
    expect(all.dbfs).closeTo(caller.dbfs, 1)
    const stood = await world.stood(line)
    expect(all.toMs - all.fromMs).toBeGreaterThan(2000 - stood)
    expect(all.toMs - all.fromMs).toBeLessThan(mostMs)
    expect(all.gapMs).toBeGreaterThan(600)
    expect(all.gapMs).toBeLessThan(heldMs + 200 + stood)
    isAbsent(right, caller)
    isSmooth(
      Timeline.part(left, 100),
      { codecs: ["PCMA"], voices: [caller], stood },
      { ...all, toMs: all.fromMs + 500 }
    )
  })

  it.concurrent.each([true, false])(
    "keeps its times while a phone sends no silence, comfort noise %s",
    async (comfortNoise) => {
      const line = await world.callIn(world.plan("PCMU", caller))
      await record(line)
      await World.sleep(500)
      await world.phones.act(line.number, { type: "silent", ms: 600, comfortNoise })
      await world.act(line, "play", { url: sound })
      await world.event("call.playback_ended", line.id)
      await World.sleep(500)
      await world.hangUp(line)
      const [left, right] = await two(line)
      const all = Measure.span(left, caller)
      expect(all.dbfs).closeTo(caller.dbfs, 1)
      const stood = await world.stood(line)
      expect(all.gapMs).closeTo(600, 120 + stood)
      isWhole(Measure.span(right, played), played, stood, playedMs - 60, playedMs + 60)
      isSmooth(
        Timeline.part(left, 100),
        { codecs: ["PCMU"], voices: [caller], stood },
        { ...all, toMs: all.fromMs + 400 }
      )
    }
  )

  it.concurrent.each(["PCMU", "G722", "OPUS"] as const)(
    "has no hole where packets were lost on the way, in %s",
    async (codec) => {
      const line = await world.callIn(world.plan(codec, caller))
      await world.phones.act(line.number, { type: "lose", every: 10 })
      const passed = clock()
      await record(line)
      await World.sleep(2000)
      await world.hangUp(line)
      const mostMs = passed() + 100
      const [left] = await two(line)
      // A window of 20 ms on either side of a lost packet contains some of the concealed sound.
      const stood = 20 + (await world.stood(line))
      isWhole(Measure.span(left, caller), caller, stood, 1800, mostMs)
    }
  )

  it.concurrent("goes on through a transfer: ring-back and then the other are what the leg hears", async () => {
    const ring = { hz: 450, dbfs: -21 }
    const line = await world.callIn(world.plan("PCMU", caller))
    const passed = clock()
    await record(line)
    await World.sleep(300)
    const to = world.number()
    await world.phones.expect(to, world.plan("PCMA", callee, { ringMs: 700 }))
    await world.act(line, "transfer", { to })
    await world.event("call.bridged", line.id)
    await World.sleep(1000)
    await world.hangUp(line)
    const [mostMs, stood] = [passed() + 100, await world.stood(line, { number: to })]
    const [left, right] = await two(line)
    const [ringing, other] = [Measure.span(right, ring), Measure.span(right, callee)]
    expect(ringing.dbfs).closeTo(ring.dbfs, 1)
    expect(ringing.toMs).toBeLessThanOrEqual(other.fromMs + 20)
    isWhole(other, callee, stood, 900, mostMs)
    isWhole(Measure.span(left, caller), caller, stood, 1800, mostMs)
    isSmooth(Timeline.part(right, 100), { codecs: ["PCMU", "PCMA"], voices: [ring, callee], stood }, ringing, other)
    isAbsent(left, callee)
    isAbsent(right, caller)
  })

  it.concurrent.each([
    ["PCMU", "PCMU"],
    ["G722", "G722"],
    ["PCMU", "OPUS"]
  ] as const)("of each of two bridged calls has both sides, %s with %s", async (one, other) => {
    const [a, b] = [await world.callIn(world.plan(one, caller)), await world.callOut(world.plan(other, callee))]
    const passed = clock()
    await record(a)
    await record(b)
    await World.sleep(300)
    await bridge(a, b)
    await World.sleep(1500)
    await world.hangUp(a)
    const [mostMs, stood] = [passed() + 100, await world.stood(a, b)]
    for (const [line, own, far] of [
      [a, caller, callee],
      [b, callee, caller]
    ] as const) {
      const [left, right] = await two(line)
      isWhole(Measure.span(left, own), own, stood, 1700, mostMs)
      isWhole(Measure.span(right, far), far, stood, 1400, mostMs)
      isAbsent(left, far)
      isAbsent(right, own)
      isSmooth(Timeline.part(left, 100), { codecs: [one, other], voices: [own], stood }, Measure.span(left, own))
      isSmooth(right, { codecs: [one, other], voices: [far], stood }, Measure.span(right, far))
    }
  })

  it.concurrent.each([
    ["is renegotiated", { type: "renegotiate", codecs: ["G722"] }],
    ["is changed without asking", { type: "switch", codec: "PCMA" }]
  ] as const)("goes on when the codec %s", async (_, change) => {
    const line = await world.callIn(world.plan("PCMU", caller, { codecs: ["PCMU", "PCMA"] }))
    const passed = clock()
    await record(line)
    await World.sleep(700)
    await world.phones.act(line.number, change)
    await World.sleep(900)
    await world.hangUp(line)
    const mostMs = passed() + 100
    const [left] = await two(line)
    const stood = await world.stood(line)
    isWhole(Measure.span(left, caller), caller, stood, 1500, mostMs)
    isSmooth(
      Timeline.part(left, 100),
      { codecs: ["PCMU", "G722"], voices: [caller], stood },
      Measure.span(left, caller)
    )
  })
})
