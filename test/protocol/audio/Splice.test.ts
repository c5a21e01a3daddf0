import { describe, expect, it } from "@effect/vitest"
import * as Splice from "../../../src/protocol/audio/Splice.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"

const rates = [8000, 16_000, 48_000] as const

/** The end of a voice of this pitch: its harmonics, each weaker than the one before. */
const voice = (hz: number, rate: number): Int16Array =>
  Tone.tone(
    [1, 2, 3, 5, 8].map((harmonic) => ({ frequency: hz * harmonic, dbfs: -14 - 3 * harmonic })),
    40,
    rate
  )

/** Counts the reads of samples. */
const counted = (samples: Int16Array, look: (sound: Int16Array) => unknown): number => {
  let count = 0
  const watched = new Proxy(samples, {
    get: (target, name) => {
      if (name !== "length") count++
      return Reflect.get(target, name) as unknown
    }
  })
  look(watched)
  return count
}

describe("The period of a sound", () => {
  it.each(rates.flatMap((rate) => [80, 110, 155, 220, 330].map((hz) => [hz, rate] as const)))(
    "of %i Hz is found to the sample, or some of them, at a rate of %i Hz",
    (hz, rate) => {
      const period = rate / hz
      const found = Splice.periodOf(voice(hz, rate), rate) ?? 0
      const whole = Math.round(found / period)
      expect(whole).toBeGreaterThanOrEqual(1)
      expect(Math.abs(found - whole * period)).toBeLessThanOrEqual(1)
    }
  )

  it("costs a peer that changes its codec all the time no more in a codec of a high rate", () => {
    const [wide = 0, full = 0] = ([16_000, 48_000] as const).map((rate) =>
      counted(voice(110, rate).slice(-rate / 50), (sound) => Splice.periodOf(sound, rate))
    )
    expect(wide).toBeGreaterThan(1000)
    expect(full).toBeLessThan(1.5 * wide)
  })

  it("is not told of a sound that is too short", () => {
    for (const rate of rates) expect(Splice.periodOf(new Int16Array(rate / 200), rate)).toBeNull()
  })
})
