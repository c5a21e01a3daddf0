import { describe, expect, it } from "@effect/vitest"
import * as Limiter from "../../../src/protocol/audio/Limiter.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Click from "../../media/mix/Click.ts"

const frames = (samples: Int32Array, rate: 8000 | 16_000 = 8000) => {
  const limiter = Limiter.make()
  const out = new Int16Array(samples.length)
  const length = rate / 50
  for (let at = 0; at < samples.length; at += length)
    limiter.process(samples.subarray(at, at + length), out.subarray(at, at + length), rate)
  return { limiter, out }
}
const tones = (count: number, dbfs: number, ms = 1000) => {
  const sum = new Int32Array(ms * 8)
  for (let i = 0; i < count; i++)
    Tone.sine(300 + 170 * i, dbfs, ms, 8000).forEach((sample, at) => (sum[at] = (sum[at] ?? 0) + sample))
  return sum
}

describe("The limiter of a sum", () => {
  it("changes nothing that stays below -1 dBFS", () => {
    const sum = tones(3, -14)
    const { limiter, out } = frames(sum)
    expect([...out]).toEqual([...sum])
    expect(limiter.isResting()).toBe(true)
  })

  it.each([3, 10, 50])("brings %i loud tones into range without clipping but for the first 2 ms of a rise", (count) => {
    const { out } = frames(tones(count, -6))
    const clipped = out.filter((sample) => sample === 32_767 || sample === -32_768)
    expect(clipped.length).toBeLessThan(out.length / 100)
    expect(out.subarray(160).reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)).toBeGreaterThan(20_000)
  })

  it("takes a loud tone down evenly: what is left has its shape", () => {
    const sum = Int32Array.from(tones(1, -6), (sample) => sample * 4)
    const { out } = frames(sum)
    const steady = Int32Array.from(out.subarray(320, 2000))
    const factor = (steady[100] ?? 0) / (sum[420] ?? 1)
    steady.forEach((sample, i) => expect(Math.abs(sample - (sum[320 + i] ?? 0) * factor)).toBeLessThan(30))
  })

  it("keeps the gain for ten frames, then gives it back by 1 % a frame, and rests", () => {
    const loud = new Int32Array(160).fill(58_408)
    const quiet = new Int32Array(160).fill(10_000)
    const limiter = Limiter.make()
    const out = new Int16Array(160)
    limiter.process(loud, out, 8000)
    expect(out[159]).toBe(29_204)
    const ends: Array<number> = []
    const middles: Array<number> = []
    for (let i = 0; i < 90; i++) {
      limiter.process(quiet, out, 8000)
      ends.push(out[159] ?? 0)
      middles.push(out[79] ?? 0)
    }
    expect(ends.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 5000))
    expect(ends[10]).toBe(5050)
    // A rise takes the whole frame.
    expect(middles[10]).toBe(5025)
    expect(ends[11]).toBe(5101)
    expect(ends.at(-1)).toBe(10_000)
    expect(limiter.isResting()).toBe(true)
  })

  it.each([8000, 16_000] as const)("falls to its gain in 2 ms, not earlier and not later, at %i Hz", (rate) => {
    const length = rate / 500
    const sum = new Int32Array(rate / 50).fill(58_408)
    for (const sign of [1, -1]) {
      const { out } = frames(
        sum.map((sample) => sign * sample),
        rate
      )
      const fall = Array.from(out.subarray(0, length), (sample) => sign * sample)
      expect(fall.every((sample, i) => i === 0 || sample <= (fall[i - 1] ?? 0))).toBe(true)
      expect(fall.filter((sample) => sample <= 29_204)).toEqual([29_204])
      expect(out.subarray(length).every((sample) => sign * sample === 29_204)).toBe(true)
    }
  })

  it("moves its gain without a step", () => {
    const tone = Int32Array.from(Tone.sine(440, -12, 2000, 8000))
    const burst = tone.map((sample, i) => (i >= 1600 && i < 1920 ? sample * 6 : sample))
    const { out } = frames(burst)
    const after = out.subarray(1925)
    expect(Click.largest(after)).toBeLessThan(2 * Click.largest(Int16Array.from(tone)))
  })
})
