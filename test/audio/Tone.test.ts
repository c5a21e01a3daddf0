import { assert, describe, it } from "@effect/vitest"
import * as Goertzel from "../support/Goertzel.ts"
import * as Tone from "../../src/audio/Tone.ts"

describe("Tones and their measurement", () => {
  it.each([
    [440, 0],
    [1000, -20],
    [3000, -40]
  ])("a sine of %i Hz at %i dBFS is found there and nowhere else", (frequency, dbfs) => {
    const samples = Tone.sine(frequency, dbfs, 500, 8000)
    assert.closeTo(Goertzel.level(samples, frequency, 8000), dbfs, 0.1)
    assert.closeTo(Goertzel.totalLevel(samples), dbfs, 0.1)
    assert.isBelow(Goertzel.level(samples, frequency + 100, 8000), dbfs - 40)
  })
  it("silence has no level", () => {
    assert.strictEqual(Goertzel.level(new Int16Array(160), 440, 8000), Number.NEGATIVE_INFINITY)
    assert.strictEqual(Goertzel.totalLevel(new Int16Array(0)), Number.NEGATIVE_INFINITY)
  })
  it("keeps its phase from frame to frame", () => {
    const oscillator = Tone.oscillator([{ frequency: 333, dbfs: -6 }], 8000)
    const pieces = new Int16Array(480)
    oscillator.render(pieces, 0, 160)
    oscillator.render(pieces, 160)
    assert.deepStrictEqual(pieces, Tone.sine(333, -6, 60, 8000))
  })
  it.each([
    ["1", 697, 1209],
    ["5", 770, 1336],
    ["d", 941, 1633],
    ["*", 941, 1209],
    ["#", 941, 1477]
  ])("the digit %s is %i and %i Hz", (digit, row, column) => {
    const samples = Tone.tone(Tone.dtmf(digit) ?? [], 100, 8000)
    assert.closeTo(Goertzel.level(samples, row, 8000), -11, 0.5)
    assert.closeTo(Goertzel.level(samples, column, 8000), -9, 0.5)
  })
  it.each(["", "E", "12", "w"])("there are no frequencies for %j", (text) => assert.isNull(Tone.dtmf(text)))
  it("clips what exceeds full scale", () => {
    const samples = Tone.tone(
      [
        { frequency: 400, dbfs: 0 },
        { frequency: 400, dbfs: 0 }
      ],
      20,
      8000
    )
    assert.strictEqual(Math.max(...samples), 32_767)
    assert.strictEqual(Math.min(...samples), -32_768)
  })
})
