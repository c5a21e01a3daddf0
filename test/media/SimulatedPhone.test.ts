import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../support/Goertzel.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Frame from "../../src/media/Frame.ts"
import * as SimulatedPhone from "../../src/media/SimulatedPhone.ts"

const rate = 16_000

const listen = (script: SimulatedPhone.PhoneScript, ms: number, hear: Int16Array = new Int16Array(0)) => {
  const phone = SimulatedPhone.make(script, () => undefined)
  const heard: Array<number> = []
  const frame = Frame.make(rate)
  for (let i = 0; i < ms / Frame.frameMs; i++) {
    phone.say(frame, i * Frame.frameMs)
    heard.push(...frame.samples)
    frame.samples.fill(0)
    frame.samples.set(hear.subarray(i * frame.samples.length, (i + 1) * frame.samples.length))
    phone.hear(frame, i * Frame.frameMs)
  }
  return Int16Array.from(heard)
}
const at = (samples: Int16Array, fromMs: number, toMs: number) =>
  samples.subarray((fromMs * rate) / 1000, (toMs * rate) / 1000)

describe("Simulated phones", () => {
  it("an echo says what it heard, one frame later", () => {
    const tone = Tone.sine(440, -12, 200, rate)
    expect(listen({ type: "echo" }, 220, tone).subarray(rate / 50)).toStrictEqual(tone)
  })

  const parts = [
    { sound: "silence", ms: 200 },
    { sound: "speech", ms: 3000 },
    { sound: "tone", ms: 500, components: [{ frequency: 1000, dbfs: -10 }] }
  ] as const

  it("one that plays speaks in syllables and sounds its tones, once, and is silent behind them", () => {
    const sound = listen({ type: "plays", parts, repeats: false }, 5000)
    expect(Goertzel.totalLevel(at(sound, 0, 200))).toBe(Number.NEGATIVE_INFINITY)
    const spoken = at(sound, 200, 3200)
    expect(Goertzel.totalLevel(spoken)).toBeGreaterThan(-30)
    expect(Goertzel.level(spoken, 1000, rate)).toBeLessThan(-40)
    const pauses = Array.from({ length: 12 }, (_, i) => Goertzel.totalLevel(at(spoken, i * 250 + 200, i * 250 + 240)))
    expect(pauses.every((level) => level < -60)).toBe(true)
    expect(Goertzel.level(at(sound, 3200, 3700), 1000, rate)).closeTo(-10, 0.2)
    expect(Goertzel.totalLevel(at(sound, 3700, 5000))).toBe(Number.NEGATIVE_INFINITY)
  })

  it("one that plays again and again begins anew behind its last part", () => {
    const sound = listen({ type: "plays", parts, repeats: true }, 7400)
    expect(at(sound, 3700, 7400)).toStrictEqual(at(sound, 0, 3700))
    expect(listen({ type: "plays", parts: [], repeats: true }, 100).every((sample) => sample === 0)).toBe(true)
  })

  it("one that acts says its sound once, and presses each digit at its time", () => {
    const samples = new Int16Array(rate + rate / 2)
    samples.set(Tone.sine(440, -12, 500, rate), rate)
    const pressed: Array<readonly [string, number]> = []
    let now = 0
    const presses = [
      { digit: "1", atMs: 1_200 },
      { digit: "#", atMs: 1_990 }
    ]
    const phone = SimulatedPhone.make({ type: "acts", samples, presses }, (digit) => void pressed.push([digit, now]))
    const heard: Array<number> = []
    const frame = Frame.make(rate)
    for (; now < 3_000; now += Frame.frameMs) {
      phone.say(frame, now)
      heard.push(...frame.samples)
    }
    const sound = Int16Array.from(heard)
    expect(Goertzel.totalLevel(at(sound, 0, 1000))).toBe(Number.NEGATIVE_INFINITY)
    expect(Goertzel.level(at(sound, 1000, 1500), 440, rate)).closeTo(-12, 0.2)
    expect(Goertzel.totalLevel(at(sound, 1500, 3000))).toBe(Number.NEGATIVE_INFINITY)
    expect(pressed).toStrictEqual([
      ["1", 1_200],
      ["#", 1_980]
    ])
  })

  it("the silent one is silent", () => {
    expect(listen({ type: "silence" }, 100, Tone.sine(440, -12, 100, rate)).every((sample) => sample === 0)).toBe(true)
  })
})
