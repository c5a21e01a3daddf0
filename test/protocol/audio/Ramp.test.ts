import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ramp from "../../../src/protocol/audio/Ramp.ts"

const flat = (length: number) => new Int16Array(length).fill(10_000)
/** Fades samples that come in pieces. */
const inPieces = (length: number, piece: number, fade: (samples: Int16Array, from: number, to: number) => void) => {
  const samples = flat(length)
  for (let at = 0; at < length; at += piece) fade(samples, at, Math.min(length, at + piece))
  return samples
}

describe("A ramp", () => {
  it.each([8000, 16_000, 24_000, 48_000] as const)("lasts 5 ms at %i Hz, up and down alike", (rate) => {
    const length = rate / 200
    expect(Ramp.lengthAt(rate)).toBe(length)
    const up = flat(2 * length)
    Ramp.fadeIn(up, rate, 0, 0, up.length)
    const down = flat(2 * length)
    Ramp.fadeOut(down, rate, down.length, 0, down.length)
    expect(Array.from(down.toReversed())).toEqual([...up])
    expect(up.slice(length).every((sample) => sample === 10_000)).toBe(true)
    expect((up[length / 2 - 1] ?? 0) + (up[length / 2] ?? 0)).toBe(10_000)
    expect(up[0]).toBeLessThan(20)
  })

  it("is the same whatever the pieces in which its samples come", () => {
    const whole = inPieces(100, 100, (samples, from, to) => {
      Ramp.fadeIn(samples, 8000, from, from, to)
      Ramp.fadeOut(samples, 8000, 100 - from, from, to)
    })
    for (const piece of [1, 7, 39, 41, 99]) {
      const pieces = inPieces(100, piece, (samples, from, to) => {
        Ramp.fadeIn(samples, 8000, from, from, to)
        Ramp.fadeOut(samples, 8000, 100 - from, from, to)
      })
      expect(pieces).toEqual(whole)
    }
  })

  it("leaves next to nothing above 1.5 kHz of a tone that is cut at its peak", () => {
    const cut = Int16Array.from({ length: 1600 }, (_, i) =>
      i < 800 ? 16_000 * Math.cos((2 * Math.PI * 440 * i) / 8000 - (2 * Math.PI * 440 * 799) / 8000) : 0
    )
    const faded = Int16Array.from(cut)
    Ramp.fadeOut(faded, 8000, 800, 0, 800)
    /** Applies a Hann window, so that the ends of the stretch add nothing. */
    const windowed = (samples: Int16Array) =>
      samples.map((sample, i) => sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / samples.length)))
    const above = (samples: Int16Array) =>
      Math.max(...[1610, 2010, 2510, 3010, 3510].map((frequency) => Goertzel.level(windowed(samples), frequency, 8000)))
    expect(above(cut.subarray(400, 1200))).toBeGreaterThan(-65)
    expect(above(faded.subarray(400, 1200))).toBeLessThan(-85)
  })
})
