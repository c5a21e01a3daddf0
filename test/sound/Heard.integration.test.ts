import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as Measure from "./Measure.ts"
import type * as Phone from "./Phone.ts"
import * as Timeline from "./Timeline.ts"
import * as World from "./World.ts"

/**
 * The sound that phones receive, over SIP and RTP on loopback, by content: each tone has its frequency, level and
 * length, without gaps and clicks, and there is no other sound.
 */
const left: Phone.Voice = { hz: 400, dbfs: -14 }
const right: Phone.Voice = { hz: 700, dbfs: -17 }
const played: Phone.Voice = { hz: 1100, dbfs: -20 }
const playedMs = 1500
const codecs: ReadonlyArray<CodecName> = ["PCMU", "PCMA", "G722", "OPUS", "L16"]

let world: World.World
let [narrow, wide, mp3] = ["", "", ""]

beforeAll(async () => {
  world = await World.start({ RINGBACK_COUNTRY: "CN" })
  const file = (rate: number) =>
    Wav.write({ sampleRate: rate, samples: Tone.sine(played.hz, played.dbfs, playedMs, rate) })
  narrow = world.serve("8000.wav", file(8000))
  wide = world.serve("16000.wav", file(16_000))
  mp3 = world.serve(
    "tone.mp3",
    readFileSync(new URL("../protocol/audio/file/tone-440hz-16khz-mono.mp3", import.meta.url))
  )
})
afterAll(() => world?.stop())

/** Expects none of a tone (`Measure.loudest`). */
const isAbsent = (sound: Timeline.Sound, { hz }: Phone.Voice): void =>
  expect(Measure.loudest(sound, hz)).toBeLessThan(-45)

/**
 * Expects a tone at its level for this long and no longer, without a gap of more than 40 ms; `stood`: how long the
 * machine stood still meanwhile.
 */
const isWhole = (
  span: Measure.Span,
  { dbfs }: Phone.Voice,
  stood: number,
  leastMs: number,
  mostMs = Infinity
): void => {
  expect(span.dbfs).closeTo(dbfs, 1)
  expect(span.gapMs).toBeLessThanOrEqual(40 + stood)
  expect(span.toMs - span.fromMs).toBeGreaterThanOrEqual(leastMs - stood)
  expect(span.toMs - span.fromMs).toBeLessThanOrEqual(mostMs + stood)
}
/** Expects the tone of a file: windows at both ends contain a part of it. */
const isFile = (span: Measure.Span, voice: Phone.Voice, stood: number, ms: number): void =>
  isWhole(span, voice, stood, ms - 40, ms + 40)

describe("What is played", World.onceMore, () => {
  it.concurrent.each(codecs)("is heard in %s with its frequency, level and length, without a click", async (codec) => {
    const line = await world.callIn(world.plan(codec, left))
    await world.act(line, "play", { url: codec === "G722" || codec === "L16" ? wide : narrow })
    await world.event("call.playback_ended", line.id)
    await World.sleep(200)
    await world.hangUp(line)
    const heard = await world.heard(line)
    const span = Measure.span(heard, played)
    const stood = await world.stood(line)
    isFile(span, played, stood, playedMs)
    isAbsent(heard, left)
    const steady = Timeline.part(heard, span.fromMs + 200, span.toMs - 200)
    expect(Measure.clicks(heard, { codecs: [codec], voices: [played], stood }, [steady])).toEqual([])
  })

  it("from an MP3 is heard as from a WAVE file; twice in a row it has no hole between", async () => {
    const line = await world.callIn(world.plan("PCMA", left))
    await world.act(line, "play", { url: mp3 })
    await world.event("call.playback_ended", line.id)
    await world.act(line, "play", { url: narrow, loop: 2 })
    await World.sleep(2 * playedMs + 500)
    await world.hangUp(line)
    const heard = await world.heard(line)
    isFile(Measure.span(heard, played), played, await world.stood(line), 2 * playedMs)
    // 440 Hz is not a multiple of 50.
    const tone = Timeline.part(heard, 0, Measure.span(heard, played).fromMs - 20)
    expect(Math.max(...Measure.energy(tone))).closeTo(-12, 1)
    expect(Measure.speech(tone).ms).toBeGreaterThan(500)
  })
})

describe("What is spoken", World.onceMore, () => {
  it.concurrent.each(["PCMU", "G722"] as const)("has the energy and the length of speech in %s", async (codec) => {
    const line = await world.callIn(world.plan(codec, left))
    const say = (payload: string) => world.act(line, "speak", { payload, voice: "espeak.en-us" })
    await say("One two three four five six seven eight.")
    await world.event("call.speak_ended", line.id)
    await World.sleep(600)
    await world.hangUp(line)
    const heard = await world.heard(line)
    const speech = Measure.speech(heard)
    // The text has eight short words.
    expect(speech.ms).toBeGreaterThan(1200)
    expect(speech.ms).toBeLessThan(5000)
    const loud = Measure.energy(heard).filter((level) => level > -45)
    const mean = loud.reduce((sum, level) => sum + level, 0) / loud.length
    expect(mean).toBeGreaterThan(-32)
    expect(mean).toBeLessThan(-8)
    // Words rise and fall, unlike a tone.
    expect(Math.max(...loud) - Math.min(...loud)).toBeGreaterThan(15)
  })
})

describe("Who is bridged", World.onceMore, () => {
  it.concurrent.each([
    ["PCMU", "PCMU"],
    ["PCMU", "PCMA"],
    ["PCMA", "G722"],
    ["G722", "G722"],
    ["PCMU", "OPUS"],
    ["OPUS", "L16"],
    ["L16", "L16"]
  ] as const)("hears the other and not himself: %s with %s", async (one, two) => {
    const [a, b] = [await world.callIn(world.plan(one, left)), await world.callOut(world.plan(two, right))]
    const { legs } = await world.ask("GET", `/v1/calls/${b.id}`)
    await world.act(a, "bridge", { leg_id: legs[0]?.id })
    await world.event("call.bridged", b.id)
    await World.sleep(1500)
    await world.hangUp(a)
    const stood = await world.stood(a, b)
    for (const [line, other, own] of [
      [a, right, left],
      [b, left, right]
    ] as const) {
      const heard = await world.heard(line)
      const span = Measure.span(heard, other)
      isWhole(span, other, stood, 1300)
      isAbsent(heard, own)
      const steady = Timeline.part(heard, span.fromMs + 200, span.toMs - 200)
      expect(Measure.clicks(heard, { codecs: [one, two], voices: [other], stood }, [steady])).toEqual([])
    }
  })

  it.concurrent.each([
    ["PCMU", "PCMU"],
    ["G722", "G722"],
    ["PCMA", "G722"]
  ] as const)(
    "hears the other without a hole or a click while something begins to play to him, plays, and ends: %s with %s",
    async (one, two) => {
      const [a, b] = [await world.callIn(world.plan(one, left)), await world.callOut(world.plan(two, right))]
      const { legs } = await world.ask("GET", `/v1/calls/${b.id}`)
      await world.act(a, "bridge", { leg_id: legs[0]?.id })
      await world.event("call.bridged", b.id)
      await World.sleep(700)
      await world.act(a, "play", { url: narrow })
      await world.event("call.playback_ended", a.id)
      await World.sleep(700)
      await world.hangUp(a)
      const heard = await world.heard(a)
      const [other, sound] = [Measure.span(heard, right), Measure.span(heard, played)]
      const stood = await world.stood(a, b)
      isWhole(other, right, stood, playedMs + 1000)
      isFile(sound, played, stood, playedMs)
      const steady = [
        Timeline.part(heard, other.fromMs + 200, sound.fromMs - 100),
        Timeline.part(heard, sound.fromMs + 200, sound.toMs - 200)
      ]
      expect(Measure.clicks(heard, { codecs: [one, two], voices: [right, played], stood }, steady)).toEqual([])
      // The other side receives none of it, and continues undisturbed.
      const far = await world.heard(b)
      isAbsent(far, played)
      expect(Measure.span(far, left).gapMs).toBeLessThanOrEqual(40 + stood)
    }
  )
})

describe("Who is transferred", World.onceMore, () => {
  it.concurrent.each([
    ["PCMU", "PCMU"],
    ["G722", "PCMA"]
  ] as const)("hears ring-back until the other answers, then the other: %s to %s", async (one, two) => {
    const ring = { hz: 450, dbfs: -21 }
    const line = await world.callIn(world.plan(one, left))
    const to = world.number()
    await world.phones.expect(to, world.plan(two, right, { ringMs: 700 }))
    await world.act(line, "transfer", { to })
    await world.event("call.bridged", line.id)
    await World.sleep(1200)
    await world.hangUp(line)
    const heard = await world.heard(line)
    const [ringing, other] = [Measure.span(heard, ring), Measure.span(heard, right)]
    expect(ringing.dbfs).closeTo(ring.dbfs, 1)
    const stood = await world.stood(line, { number: to })
    expect(ringing.toMs - ringing.fromMs).toBeGreaterThan(500 - stood)
    expect(ringing.toMs).toBeLessThanOrEqual(other.fromMs + 20)
    isWhole(other, right, stood, 1000)
    const steady = [
      Timeline.part(heard, ringing.fromMs + 100, ringing.toMs - 100),
      Timeline.part(heard, other.fromMs + 200, other.toMs - 200)
    ]
    expect(Measure.clicks(heard, { codecs: [one, two], voices: [ring, right], stood }, steady)).toEqual([])
    const callee = Timeline.of(await world.phones.heard(to))
    isWhole(Measure.span(callee, left), left, stood, 1000)
  })

  it("hears nothing of the one before, once he was transferred again", async () => {
    const third = { hz: 1300, dbfs: -18 }
    const line = await world.callIn(world.plan("PCMU", left))
    const transfer = async (voice: Phone.Voice) => {
      const to = world.number()
      await world.phones.expect(to, world.plan("PCMU", voice, { ringMs: 300 }))
      const bridged = () =>
        world.told.filter(({ data, event_type }) => event_type === "call.bridged" && data.call_id === line.id)
      const before = bridged().length
      await world.act(line, "transfer", { to })
      await World.until("bridged", () => (bridged().length > before ? true : undefined))
      await World.sleep(800)
      return to
    }
    const second = await transfer(right)
    await transfer(third)
    await world.hangUp(line)
    const heard = await world.heard(line)
    const [before, after] = [Measure.span(heard, right), Measure.span(heard, third)]
    expect(before.toMs).toBeLessThan(after.fromMs)
    const stood = await world.stood(line, { number: second })
    isWhole(after, third, stood, 600)
    expect((await world.phones.state(second)).isOver).toBe(true)
    // The first callee heard the caller until the transfer, and then nothing.
    isWhole(Measure.span(Timeline.of(await world.phones.heard(second)), left), left, stood, 600)
  })
})
