import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"

describe("Tones and their measurement", () => {
  it.each([
    [440, 0],
    [1000, -20],
    [3000, -40]
  ])("a sine of %i Hz at %i dBFS is found there and nowhere else", (frequency, dbfs) => {
    const samples = Tone.sine(frequency, dbfs, 500, 8000)
    expect(Goertzel.level(samples, frequency, 8000)).closeTo(dbfs, 0.1)
    expect(Goertzel.totalLevel(samples)).closeTo(dbfs, 0.1)
    expect(Goertzel.level(samples, frequency + 100, 8000)).toBeLessThan(dbfs - 40)
  })
  it("silence has no level", () => {
    expect(Goertzel.level(new Int16Array(160), 440, 8000)).toBe(Number.NEGATIVE_INFINITY)
    expect(Goertzel.totalLevel(new Int16Array(0))).toBe(Number.NEGATIVE_INFINITY)
  })
  it("keeps its phase from frame to frame", () => {
    const oscillator = Tone.oscillator([{ frequency: 333, dbfs: -6 }], 8000)
    const pieces = new Int16Array(480)
    oscillator.render(pieces, 0, 160)
    oscillator.render(pieces, 160)
    expect(pieces).toStrictEqual(Tone.sine(333, -6, 60, 8000))
  })
  it.each([
    ["1", 697, 1209],
    ["5", 770, 1336],
    ["d", 941, 1633],
    ["*", 941, 1209],
    ["#", 941, 1477]
  ])("the digit %s is %i and %i Hz", (digit, row, column) => {
    const samples = Tone.tone(Tone.dtmf(digit) ?? [], 100, 8000)
    expect(Goertzel.level(samples, row, 8000)).closeTo(-11, 0.5)
    expect(Goertzel.level(samples, column, 8000)).closeTo(-9, 0.5)
  })
  it.each(["", "E", "12", "w"])("there are no frequencies for %j", (text) => expect(Tone.dtmf(text)).toBeNull())
  it("clips what exceeds full scale", () => {
    const samples = Tone.tone(
      [
        { frequency: 400, dbfs: 0 },
        { frequency: 400, dbfs: 0 }
      ],
      20,
      8000
    )
    expect(Math.max(...samples)).toBe(32_767)
    expect(Math.min(...samples)).toBe(-32_768)
  })
})
