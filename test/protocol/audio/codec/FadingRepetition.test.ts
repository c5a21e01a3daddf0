import { describe, expect, it } from "@effect/vitest"
import * as FadingRepetition from "../../../../src/protocol/audio/codec/FadingRepetition.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Click from "../../../media/mix/Click.ts"

/** A tone that is concealed from a sample on. */
const lost = (frequency: number, rate: number, from: number) => {
  const frame = rate / 50
  const sound = Tone.sine(frequency, -12, 200, rate)
  const conceal = FadingRepetition.make()
  const first = Math.floor(from / frame)
  const levels: Array<number> = []
  for (let at = first, n = 0; at < 10; at++, n++) {
    const out = sound.subarray(at * frame, (at + 1) * frame)
    const last = sound.slice((first - 1) * frame, first * frame)
    levels.push(conceal(out, { from: n === 0 ? from % frame : 0, framesBefore: n, last, following: null }))
  }
  return { sound, levels }
}

describe("What is made up for a loss", () => {
  it.each([
    [8000, 440, 640],
    [8000, 110, 700],
    [16_000, 317, 1280],
    [16_000, 1000, 1500]
  ])("goes on at %i Hz where a tone of %i Hz broke off at sample %i, without a click", (rate, frequency, from) => {
    const { sound } = lost(frequency, rate, from)
    const whole = Tone.sine(frequency, -12, 200, rate)
    expect(Click.largest(sound)).toBeLessThan(Click.largest(whole) + 2500)
  })

  it("has faded out within 60 ms", () => {
    const { levels, sound } = lost(440, 8000, 640)
    expect(levels.map((level) => Math.round(level * 3))).toEqual([2, 1, 0, 0, 0, 0])
    expect(sound.subarray(640 + 480).every((sample) => sample === 0)).toBe(true)
    expect(sound.subarray(640, 640 + 160).some((sample) => Math.abs(sample) > 4000)).toBe(true)
  })
})
