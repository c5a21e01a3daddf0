import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../src/audio/Goertzel.ts"
import type { SampleRate } from "../../src/audio/SampleRate.ts"
import * as Tone from "../../src/audio/Tone.ts"
import type { FarEnd } from "../../src/media/FarEnd.ts"
import * as LocalLeg from "../../src/media/LocalLeg.ts"
import * as Ids from "../support/Ids.ts"
import * as Media from "./MediaSample.ts"

/** A far end that says a constant, keeps what it hears, and changes its rate when it is told to. */
const setup = (takesDigits = true) => {
  let rate: SampleRate = 8000
  let heard: Array<number> = []
  const far: FarEnd = {
    rate: () => rate,
    ready: () => true,
    say: (out) => void out.samples.fill(7),
    hear: (frame) => {
      expect(frame.rate).toBe(rate)
      expect(frame.samples.length).toBe(rate / 50)
      heard.push(...frame.samples)
    },
    press: () => takesDigits,
    skip: () => undefined,
    close: () => undefined
  }
  const leg = LocalLeg.make(far, () => undefined)
  let now = 0
  return {
    leg,
    /** What the far end hears in so many milliseconds at this rate. */
    hear: (at: SampleRate, ms: number): Int16Array => {
      rate = at
      heard = []
      for (const end = now + ms; now < end; now += 20) leg.tick(now)
      return Int16Array.from(heard)
    }
  }
}

const levelOf = (heard: Int16Array, frequency: number, rate: SampleRate) =>
  Goertzel.level(heard.subarray(rate / 50), frequency, rate)

describe("A leg", () => {
  it("runs at the rate of its far end, also when that changes in the middle of a sound", () => {
    const { hear, leg } = setup()
    leg.command(Media.play(Ids.work("p"), "https://a/"))
    leg.player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(500, -12, 2000, 8000) })
    for (const rate of [8000, 16_000, 48_000, 24_000, 8000] as const) {
      const heard = hear(rate, 220)
      expect(levelOf(heard, 500, rate)).toBeCloseTo(-12, 1)
      expect(leg.heard()).toStrictEqual({ rate, samples: new Int16Array(rate / 50).fill(7) })
    }
  })

  it("sends digits as tones of the right frequencies at any rate, also when that changes within a digit", () => {
    const { hear, leg } = setup(false)
    leg.command(Media.dtmf(Ids.work("d"), "5", 1000))
    for (const rate of [8000, 16_000, 48_000] as const) {
      const heard = hear(rate, 220)
      expect(levelOf(heard, 770, rate)).toBeCloseTo(-11, 0)
      expect(levelOf(heard, 1336, rate)).toBeCloseTo(-9, 0)
    }
  })
})
