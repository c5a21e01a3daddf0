import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../support/Goertzel.ts"
import * as Tone from "../../src/audio/Tone.ts"
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

  it("a voicemail greets in syllables, beeps at 1 kHz for half a second and is silent", () => {
    const sound = listen({ type: "voicemail" }, 5000)
    const { beepMs, greetingMs } = SimulatedPhone
    expect(Goertzel.totalLevel(at(sound, 0, greetingMs))).toBeGreaterThan(-30)
    expect(Goertzel.level(at(sound, 0, greetingMs), 1000, rate)).toBeLessThan(-40)
    const pauses = Array.from({ length: 12 }, (_, i) => Goertzel.totalLevel(at(sound, i * 250 + 200, i * 250 + 240)))
    expect(pauses.every((level) => level < -60)).toBe(true)
    expect(Goertzel.level(at(sound, greetingMs, greetingMs + beepMs), 1000, rate)).closeTo(-10, 0.2)
    expect(Goertzel.totalLevel(at(sound, greetingMs + beepMs, 5000))).toBe(Number.NEGATIVE_INFINITY)
  })

  it("the silent one is silent", () => {
    expect(listen({ type: "silence" }, 100, Tone.sine(440, -12, 100, rate)).every((sample) => sample === 0)).toBe(true)
  })
})
