import { describe, expect, it } from "@effect/vitest"
import * as Beeper from "../../../src/media/mix/Beeper.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Click from "./Click.ts"

/** Returns frames of a beeper, silence where it has none. */
const frames = (beeper: Beeper.Beeper, count: number): Int16Array =>
  Int16Array.from(
    Array.from({ length: count }, () => [...(beeper.next(8000, 160, 0)?.samples ?? new Int16Array(160))]).flat()
  )

describe("A beeper", () => {
  it("sounds for its time at its frequency, once however often it is asked meanwhile", () => {
    const beeper = Beeper.make({ frequency: 1000, ms: 200 })
    beeper.beep()
    const first = frames(beeper, 5)
    beeper.beep()
    const rest = frames(beeper, 10)
    expect(Goertzel.level(first.subarray(80), 1000, 8000)).toBeCloseTo(-20, 0)
    expect(rest.subarray(800).every((sample) => sample === 0)).toBe(true)
    expect(beeper.ready()).toBe(false)
  })

  it("is faded in also right behind the one before", () => {
    const beeper = Beeper.make({ frequency: 1000, ms: 200 })
    const parts = [1, 2, 3].map(() => {
      beeper.beep()
      return frames(beeper, 10)
    })
    const sound = Int16Array.from([0, 0, 0, 0, ...parts.flatMap((part) => [...part])])
    expect(Click.largest(sound)).toBeLessThan(2 * Click.largest(sound.subarray(400, 1200)))
    expect([160 * 10, 160 * 20].map((at) => Math.abs(sound[at + 6] ?? 0)).every((sample) => sample < 300)).toBe(true)
  })
})
