import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Resample from "../../../../src/protocol/audio/Resample.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Dtmf from "../../../../src/protocol/audio/detect/Dtmf.ts"
import * as EspeakWasm from "../../../../src/ports/speech/process/EspeakWasm.ts"
import * as Texts from "../../../bench/detect/Texts.ts"
import * as Sounds from "./Sounds.ts"

const all = "0123456789*#ABCD1122"

const heard = (sound: Int16Array, rate: SampleRate = 8000) => {
  const dtmf = Dtmf.make()
  return Sounds.frames(sound, rate, (samples) => dtmf.hear(samples, rate) ?? "").join("")
}
const pressed = (options: Parameters<typeof Sounds.digits>[1] = {}) =>
  Sounds.join(Sounds.silence(133), Sounds.digits(all, options), Sounds.silence(200))

describe("Digits as tones", () => {
  it.each([8000, 16_000, 24_000, 48_000] as const)("are heard once each at %i Hz", (rate) => {
    expect(heard(Sounds.at(pressed(), rate), rate)).toBe(all)
  })

  it.each([
    [45, 45],
    [60, 60],
    [100, 40],
    [500, 100]
  ])("are heard when they last %i ms with %i ms between them, wherever they begin", (onMs, offMs) => {
    for (const lead of [0, 3, 7, 11])
      expect(heard(Sounds.join(Sounds.silence(lead), pressed({ onMs, offMs })))).toBe(all)
  })

  it.each([-3, -20, -40])("are heard at %i dBFS", (dbfs) => {
    expect(heard(pressed({ dbfs }))).toBe(all)
  })

  it("are heard in noise 15 dB below them", () => {
    const sound = pressed({ dbfs: -12 })
    expect(heard(Sounds.mixed(sound, Sounds.noise(-24, 6000)))).toBe(all)
  })

  it.each([-0.015, 0.015])("are heard with their frequencies off by %f (ITU-T Q.24)", (off) => {
    const sound = Sounds.join(
      ...Array.from(all).flatMap((digit) => [
        Tone.tone(
          (Tone.dtmf(digit) ?? []).map(({ dbfs, frequency }) => ({ dbfs, frequency: frequency * (1 + off) })),
          60,
          8000
        ),
        Sounds.silence(60)
      ])
    )
    expect(heard(sound)).toBe(all)
  })

  it("of which one is much louder than the other are none", () => {
    const twisted = (low: number, high: number) =>
      heard(
        Tone.tone(
          [
            { frequency: 770, dbfs: low },
            { frequency: 1336, dbfs: high }
          ],
          100,
          8000
        )
      )
    expect([twisted(-10, -10), twisted(-10, -17), twisted(-19, -10)]).toEqual(["5", "5", ""])
    expect(twisted(-10, -21)).toBe("")
  })

  it.each([
    ["one sine", [697]],
    ["ring-back", [440, 480]],
    ["busy", [480, 620]],
    ["a row with a row", [697, 852]],
    ["three sines", [770, 1336, 1000]]
  ])("are not %s", (_, frequencies) => {
    expect(heard(Sounds.cadence(frequencies, -12, 1000, 200, 1000))).toBe("")
  })

  it("are not noise", () => {
    for (const dbfs of [-40, -20, -10]) expect(heard(Sounds.noise(dbfs, 20_000))).toBe("")
  })

  it("are of one level: two tones that swell or fade, as those of a vowel, are none", () => {
    const block = 102
    const changing = (db: number) =>
      heard(Tone.tone(Tone.dtmf("5", -12) ?? [], 60, 8000).map((sample, i) => sample * 10 ** ((db * (i / block)) / 20)))
    expect([changing(0), changing(-2)]).toEqual(["5", "5"])
    expect(changing(-4)).toBe("")
  })
})

describe("Speech", () => {
  const seconds = 120

  // The bench counts false digits in hours of speech.
  it.live(
    `is no digit: none in ${seconds} s of seven voices`,
    () =>
      Effect.gen(function* () {
        const engine = yield* EspeakWasm.make()
        const texts = [...Texts.fit.carrier, ...Texts.fit.personal, ...Texts.fit.menu].map((text) =>
          text.replaceAll(/[<>|]/gu, "")
        )
        const voices = ["en-us", "en-gb+Lee", "en-us+f3", "en-us+Henrique", "en-029+zac", "en-us+m3", "en-gb+croak"]
        let [spokenSecs, digits] = [0, ""]
        for (let i = 0; spokenSecs < seconds; i++) {
          const [text = "", voice = ""] = [texts[i % texts.length], voices[i % voices.length]]
          const parts: Array<Int16Array> = []
          yield* engine.speak({ text, voice, isSsml: false }, ({ rate, samples }) => {
            const resampler = Resample.make(rate, 8000)
            parts.push(resampler.process(samples), resampler.flush())
            resampler.free()
          })
          const sound = Resample.concat(parts)
          spokenSecs += sound.length / 8000
          digits += heard(sound)
        }
        expect(digits).toBe("")
      }).pipe(Effect.scoped),
    60_000
  )
})
