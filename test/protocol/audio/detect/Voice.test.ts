import { describe, expect, it } from "@effect/vitest"
import * as RingbackTone from "../../../../src/protocol/audio/RingbackTone.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Voice from "../../../../src/protocol/audio/detect/Voice.ts"
import * as Sounds from "./Sounds.ts"

const heard = (sound: Int16Array, rate: SampleRate = 8000, options: Voice.Options = {}) => {
  const voice = Voice.make(options)
  return Sounds.frames(sound, rate, (samples) => voice.hear(samples, rate))
}
const share = (verdicts: ReadonlyArray<boolean>) => verdicts.filter((isSpeech) => isSpeech).length / verdicts.length
const isNeverSpeech = (sound: Int16Array) => expect(share(heard(sound))).toBe(0)

describe("Voice activity", () => {
  it.each([
    ["a low voice", 110, -22],
    ["a high voice", 220, -22],
    ["a faint voice", 150, -36],
    ["a loud voice", 150, -12]
  ] as const)("is most of %s, and none of the silence around it", (_, pitch, dbfs) => {
    const verdicts = heard(Sounds.join(Sounds.silence(1000), Sounds.voice(4000, { pitch, dbfs }), Sounds.silence(1000)))
    expect(share(verdicts.slice(0, 50))).toBe(0)
    expect(share(verdicts.slice(60, 250))).toBeGreaterThan(0.85)
    expect(share(verdicts.slice(262))).toBe(0)
  })

  it.each([8000, 16_000, 24_000, 48_000] as const)("is the same at %i Hz", (rate) => {
    const sound = Sounds.join(Sounds.silence(500), Sounds.voice(3000), Sounds.silence(500))
    const narrow = heard(sound)
    const differ = heard(Sounds.at(sound, rate), rate).filter((each, i) => each !== narrow[i])
    expect(differ.length).toBeLessThan(6)
  })

  it.each([-65, -50, -45])("is heard above noise of %i dBFS", (dbfs) => {
    const spoken = Sounds.mixed(
      Sounds.join(Sounds.silence(1000), Sounds.voice(3000, { dbfs: -24 }), Sounds.silence(1500)),
      Sounds.noise(dbfs, 5500)
    )
    const verdicts = heard(spoken)
    expect(share(verdicts.slice(0, 50))).toBe(0)
    expect(share(verdicts.slice(60, 200))).toBeGreaterThan(0.75)
    expect(share(verdicts.slice(215))).toBe(0)
  })

  it.each(RingbackTone.countries)("is not the ring-back tone of %s", (country) => {
    const { cadenceMs, components } = RingbackTone.table[country]
    for (const louder of [0, 10]) {
      const round = Sounds.join(
        ...cadenceMs.map((ms, i) =>
          i % 2 === 1
            ? Sounds.silence(ms)
            : Tone.tone(
                components.map(({ dbfs, frequency }) => ({ frequency, dbfs: dbfs + louder })),
                ms,
                8000
              )
        )
      )
      isNeverSpeech(Sounds.join(Sounds.silence(500), round, round))
      isNeverSpeech(round)
    }
  })

  it.each(Array.from("0123456789*#ABCD"))("is not the digit %s", (digit) => {
    for (const onMs of [45, 100, 400])
      for (const dbfs of [-6, -20])
        isNeverSpeech(Sounds.join(Sounds.silence(300), Sounds.digits(digit.repeat(6), { onMs, dbfs })))
  })

  it.each([200, 425, 1000, 2100, 3000])("is not a tone of %i Hz", (frequency) => {
    isNeverSpeech(Tone.sine(frequency, -10, 4000, 8000))
    isNeverSpeech(Sounds.join(Sounds.silence(1000), Tone.sine(frequency, -10, 4000, 8000), Sounds.silence(1000)))
  })

  it("is a voice that is nearly one sine, because its pitch moves", () => {
    const syllable = (hz: number) => {
      let phase = 0
      return Int16Array.from({ length: 8 * 250 }, (_, i) => {
        phase += (2 * Math.PI * hz * (1.1 - (0.2 * i) / 2000)) / 8000
        return 3000 * Math.sin(phase) * Math.sin((Math.PI * i) / 2000)
      })
    }
    const said = Sounds.join(...[250, 270, 240, 260].map(syllable))
    const verdicts = heard(Sounds.join(Sounds.silence(1000), said, Sounds.silence(1000)))
    expect(share(verdicts.slice(52, 100))).toBeGreaterThan(0.8)
  })

  it("begins no fainter than it is told, and goes on as faintly as ever", () => {
    const [loud, faint] = [Sounds.voice(1000, { dbfs: -20 }), Sounds.voice(2000, { dbfs: -34, seed: 2 })]
    const of = (options: Voice.Options, ...parts: ReadonlyArray<Int16Array>) =>
      share(heard(Sounds.join(Sounds.silence(500), ...parts), 8000, options))
    const starts = { startDbfs: -26, hangoverMs: 300 }
    expect(of({}, faint)).toBeGreaterThan(0.6)
    expect(of(starts, faint)).toBe(0)
    expect(of(starts, loud, faint)).toBeGreaterThan(0.6)
  })

  it("is no steady noise, at once or behind silence", () => {
    for (const dbfs of [-60, -50, -43, -36])
      for (const isBrown of [false, true]) {
        isNeverSpeech(Sounds.noise(dbfs, 5000, { isBrown }))
        isNeverSpeech(Sounds.join(Sounds.silence(3000), Sounds.noise(dbfs, 5000, { isBrown })))
      }
  })

  it("begins with the onset and ends with the hangover that it is given", () => {
    const sound = Sounds.join(Sounds.silence(1000), Sounds.voice(2000), Sounds.silence(2000))
    const edges = (options: Voice.Options) => {
      const verdicts = heard(sound, 8000, options)
      return { start: verdicts.indexOf(true) * 20, end: verdicts.lastIndexOf(true) * 20 }
    }
    const [quick, slow] = [edges({ onsetMs: 100, hangoverMs: 100 }), edges({ onsetMs: 200, hangoverMs: 600 })]
    expect(slow.start - quick.start).toBeGreaterThanOrEqual(100)
    expect(slow.start - quick.start).toBeLessThanOrEqual(180)
    expect(slow.end - quick.end).toBe(500)
  })

  it("is over between two words only when the hangover is shorter than the pause", () => {
    const words = Sounds.join(...[1, 2, 3, 4].flatMap(() => [Sounds.voice(800), Sounds.silence(400)]))
    const starts = (hangoverMs: number) => {
      const verdicts = heard(words, 8000, { hangoverMs })
      return verdicts.filter((isSpeech, i) => isSpeech && verdicts[i - 1] !== true).length
    }
    expect(starts(600)).toBe(1)
    expect(starts(60)).toBeGreaterThanOrEqual(4)
  })

  it("takes frames of any length and of rates that change without a fault", () => {
    const voice = Voice.make()
    for (const length of [0, 1, 159, 160, 2000])
      for (const rate of [8000, 48_000, 16_000] as const)
        expect(voice.hear(new Int16Array(length).fill(32_767), rate)).toBe(false)
  })
})
