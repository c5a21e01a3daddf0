import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import * as RateConverter from "../../../src/media/mix/RateConverter.ts"
import * as Click from "./Click.ts"

const rates: ReadonlyArray<SampleRate> = [8000, 16_000, 24_000, 48_000]
const pairs = rates.flatMap((from) => rates.filter((to) => to !== from).map((to) => [from, to] as const))

/** Passes sound through a converter frame by frame. */
const through = (sound: Frame.Sound, to: SampleRate, converter = RateConverter.make()): Int16Array => {
  const out = Frame.make(to)
  const frame = Frame.make(sound.rate)
  const heard: Array<number> = []
  for (let at = 0; at < sound.samples.length; at += frame.samples.length) {
    frame.samples.fill(0)
    frame.samples.set(sound.samples.subarray(at, at + frame.samples.length))
    converter.convert(frame, out)
    heard.push(...out.samples)
  }
  return Int16Array.from(heard)
}
const tone = (rate: SampleRate, ms: number, frequency = 1000): Frame.Sound => ({
  rate,
  samples: Tone.sine(frequency, -10, ms, rate)
})

describe("A converter of rates", () => {
  it.each(pairs)("keeps a tone and its level from %i to %i Hz, without a seam between frames", (from, to) => {
    const heard = through(tone(from, 500), to).subarray(to / 10)
    expect(Goertzel.level(heard, 1000, to)).toBeCloseTo(-10, 1)
    // The rest without the tone: a seam would be a click every 20 ms.
    const cleaned = heard.map((sample, i) => sample - 2 * (heard[i - to / 1000] ?? 0) + (heard[i - to / 500] ?? 0))
    expect(Goertzel.totalLevel(cleaned.subarray(to / 100))).toBeLessThan(-75)
  })

  it.each(pairs)("lets sound that is there at once come up without a step, from %i to %i Hz", (from, to) => {
    const converter = RateConverter.make()
    // A tone of 400 Hz from its peak on.
    const loud = { rate: from, samples: tone(from, 200, 400).samples.slice(from / 1600) }
    const sound = { rate: from, samples: new Int16Array((from / 50) * 12) }
    sound.samples.set(loud.samples.subarray(0, (from / 50) * 9))
    for (let time = 0; time < 2; time++) {
      const heard = through(sound, to, converter)
      const steady = Click.largest(heard.subarray(to / 20, to / 10))
      // A sixth of it would be the height of a step: -50 dBFS.
      expect(Click.largest(heard.subarray(0, to / 20))).toBeLessThan(Math.max(2 * steady, 6 * 100))
      converter.rest()
    }
  })

  it("that was given back says nothing more, and takes no memory anew", () => {
    const converter = RateConverter.make()
    const sound = tone(16_000, 100)
    converter.free()
    expect(through(sound, 8000, converter).every((sample) => sample === 0)).toBe(true)
  })

  it("lets nothing through that the lower rate cannot carry", () => {
    const heard = through(tone(48_000, 400, 5000), 8000)
    expect(Goertzel.totalLevel(heard.subarray(800))).toBeLessThan(-80)
  })

  it("copies frames that have the wanted rate already", () => {
    const sound = tone(16_000, 100)
    expect(through(sound, 16_000)).toStrictEqual(sound.samples)
  })

  it("begins a new stream when the rates change", () => {
    const converter = RateConverter.make()
    for (const [from, to] of [...pairs, ...pairs])
      expect(through(tone(from, 100), to, converter)).toStrictEqual(through(tone(from, 100), to))
  })

  it("holds the memory of one filter at most, and none once it is freed", () => {
    const [narrow, wide] = [Frame.make(8000), Frame.make(48_000)]
    const before = process.memoryUsage.rss()
    for (let i = 0; i < 20_000; i++) {
      const converter = RateConverter.make()
      converter.convert(narrow, wide)
      converter.convert(wide, narrow)
      converter.free()
    }
    // A filter takes 6 kB and more.
    expect(process.memoryUsage.rss() - before).toBeLessThan(40 * 1024 * 1024)
  })
})
