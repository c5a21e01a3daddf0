import { describe, expect, it } from "@effect/vitest"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as SpeakingDetector from "../../../../src/protocol/audio/detect/SpeakingDetector.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import { random } from "../../rtp/RandomBytes.ts"

/** Syllables of a voice of 120 Hz, a quarter of each a pause. */
const speech = (ms: number, rate: number, gain = 1): Int16Array => {
  const parts = [120, 240, 720, 1080, 2400].map((frequency, i) => ({
    frequency,
    dbfs: [-26, -22, -20, -24, -32][i] ?? -30
  }))
  const syllable = rate / 4
  return Tone.tone(parts, ms, rate).map(
    (sample, i) => gain * sample * Math.max(0, Math.sin(((i % syllable) / syllable) * (4 / 3) * Math.PI))
  )
}
const noise = (ms: number, amplitude: (ms: number) => number): Int16Array => {
  const next = random(3)
  return Int16Array.from({ length: 8 * ms }, (_, i) => (2 * next() - 1) * amplitude(i / 8))
}
const silence = (ms: number, rate = 8000) => new Int16Array((ms * rate) / 1000)
const joined = (...parts: ReadonlyArray<Int16Array>) => Int16Array.from(parts.flatMap((part) => [...part]))

/** Returns when speech begins and ends, in milliseconds. */
const changes = (sound: Int16Array, rate = 8000, speaking = SpeakingDetector.make()) => {
  const length = rate / 50
  const found: Array<number> = []
  let was = false
  for (let at = 0; at + length <= sound.length; at += length) {
    const is = speaking.hear(sound.subarray(at, at + length))
    if (is !== was) found.push(((at + length) * 1000) / rate)
    was = is
  }
  return found
}

describe("Whether a member of a room speaks", () => {
  it.each([
    [8000, 1],
    [16_000, 1],
    [48_000, 1],
    [8000, 0.1]
  ] as const)(
    "is told 200 to 440 ms behind the first word, and 600 ms behind the last, at %i Hz, gain %d",
    (rate, gain) => {
      const [from, to, ...more] = changes(
        joined(silence(1000, rate), speech(3000, rate, gain), silence(2000, rate)),
        rate
      )
      expect(more).toEqual([])
      expect(from).toBeGreaterThanOrEqual(1200)
      expect(from).toBeLessThanOrEqual(1440)
      expect(to).toBeGreaterThanOrEqual(4450)
      expect(to).toBeLessThanOrEqual(4720)
    }
  )

  it("is told of a voice in the noise of its own line, and not of the pauses within a sentence", () => {
    const line = noise(8000, () => 60)
    const voice = joined(silence(2000), speech(1500, 8000), silence(400), speech(1500, 8000), silence(2600))
    const heard = G711.decode(
      "PCMU",
      G711.encode(
        "PCMU",
        voice.map((sample, i) => sample + (line[i] ?? 0))
      )
    )
    expect(changes(heard).length).toBe(2)
  })

  it.each<[string, (ms: number) => number]>([
    ["white", () => 1500],
    ["that swells by 9 dB and falls", (ms) => 600 * 10 ** ((9 * Math.sin((2 * Math.PI * ms) / 1300)) / 20)],
    ["in steps of 20 dB", (ms) => (Math.floor(ms / 1500) % 2 === 0 ? 200 : 2000)],
    ["of breath", (ms) => (ms % 3000 < 600 ? 1500 : 30)],
    ["of clicks", (ms) => (ms % 500 < 2 ? 8000 : 0)]
  ])("is not told of noise %s", (_, amplitude) => {
    expect(changes(noise(60_000, amplitude))).toEqual([])
  })

  it("is not told of a digit that was recognized, and of what is said behind it", () => {
    const digit = Tone.tone(Tone.dtmf("5") ?? [], 600, 8000)
    const speaking = SpeakingDetector.make()
    expect(changes(silence(1000), 8000, speaking)).toEqual([])
    expect(changes(digit.subarray(0, 320), 8000, speaking)).toEqual([])
    speaking.ignore()
    expect(changes(joined(digit.subarray(320), silence(400)), 8000, speaking)).toEqual([])
    expect(changes(speech(1000, 8000), 8000, speaking).length).toBe(1)
  })

  it("is over 600 ms behind the last word too when nothing comes any more, and is told of the next as soon", () => {
    const speaking = SpeakingDetector.make()
    const voice = speech(2000, 8000)
    expect(changes(joined(silence(1000), voice), 8000, speaking).length).toBe(1)
    const missed = Array.from({ length: 200 }, () => speaking.miss())
    expect(missed.indexOf(false)).toBeGreaterThanOrEqual(20)
    expect(missed.indexOf(false)).toBeLessThanOrEqual(36)
    expect(missed.lastIndexOf(true)).toBe(missed.indexOf(false) - 1)
    const [from] = changes(voice, 8000, speaking)
    expect(from).toBeGreaterThanOrEqual(200)
    expect(from).toBeLessThanOrEqual(440)
  })

  it("is over at once when it begins anew, and has to be told again", () => {
    const speaking = SpeakingDetector.make()
    const voice = speech(2000, 8000)
    expect(changes(voice, 8000, speaking).length).toBe(1)
    speaking.restart()
    const [from] = changes(voice, 8000, speaking)
    expect(from).toBeGreaterThanOrEqual(200)
  })
})
