import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as TwoWayDigits from "../../../src/media/detect/TwoWayDigits.ts"

/** Presses as `m5` (media) and `s5` (signalling), each with its time. */
const counted = (...presses: ReadonlyArray<readonly [press: string, at: number]>) => {
  const digits = TwoWayDigits.make()
  return presses
    .filter(([press, at]) => digits.take(press.startsWith("m") ? "media" : "signalling", press.slice(1), at))
    .map(([press]) => press)
}

describe("Digits that come by two ways", () => {
  it("count by either way alone", () => {
    expect(counted(["s1", 0], ["s1", 100], ["s2", 200])).toEqual(["s1", "s1", "s2"])
    expect(counted(["m1", 0], ["m1", 100], ["m2", 200])).toEqual(["m1", "m1", "m2"])
  })

  it("count once by both, whichever way is first", () => {
    expect(counted(["m1", 0], ["s1", 300])).toEqual(["m1"])
    expect(counted(["s1", 0], ["m1", 300])).toEqual(["s1"])
    expect(counted(["m1", 0], ["s1", 1000])).toEqual(["m1"])
    expect(counted(["m1", 0], ["s1", 1001])).toEqual(["m1", "s1"])
    expect(counted(["m1", 0], ["s2", 1])).toEqual(["m1", "s2"])
  })

  it("count as often as they were pressed", () => {
    expect(counted(["m1", 0], ["s1", 10], ["m1", 200], ["s1", 210])).toEqual(["m1", "m1"])
    expect(counted(["m1", 0], ["m1", 200], ["s1", 400], ["s1", 500])).toEqual(["m1", "m1"])
    expect(counted(["s1", 0], ["s1", 200], ["m1", 300], ["m1", 500], ["m1", 700])).toEqual(["s1", "s1", "m1"])
  })

  it("count once when the signalling comes up to a second after the end of a long press", () => {
    const digits = TwoWayDigits.make()
    expect(digits.take("media", "1", 0)).toBe(true)
    for (let at = 50; at <= 5000; at += 50) digits.hold(at)
    expect(digits.take("signalling", "1", 6000)).toBe(false)
    expect(digits.take("media", "1", 7000)).toBe(true)
    digits.hold(9000)
    expect(digits.take("signalling", "1", 10_001)).toBe(true)
  })

  it("count anew when another press is held, or one that has its twin or does not count", () => {
    const digits = TwoWayDigits.make()
    expect(digits.take("media", "1", 0)).toBe(true)
    expect(digits.take("media", "2", 100)).toBe(true)
    digits.hold(1100)
    expect(digits.take("signalling", "1", 1100)).toBe(true)
    expect(digits.take("signalling", "2", 1200)).toBe(false)
    expect(digits.take("media", "3", 3000)).toBe(true)
    digits.skip()
    digits.hold(4000)
    expect(digits.take("signalling", "3", 4001)).toBe(true)
    expect(digits.take("media", "4", 6000)).toBe(true)
    expect(digits.take("signalling", "5", 6100)).toBe(true)
    expect(digits.take("media", "5", 6200)).toBe(false)
    digits.hold(7001)
    expect(digits.take("signalling", "4", 7001)).toBe(true)
  })

  const digits = Schema.Array(Schema.Literals(["1", "2", "#"])).check(Schema.isMaxLength(20))
  const delays = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -400, maximum: 400 })))
  it.prop("count once each from a far end that sends all by both, in any order", { digits, delays }, (drawn) => {
    const presses = drawn.digits.flatMap((digit, i): ReadonlyArray<readonly [string, number]> => [
      [`m${digit}`, 1000 + i * 150],
      [`s${digit}`, 1000 + i * 150 + (drawn.delays[i] ?? 0)]
    ])
    const inOrder = presses.toSorted(([, one], [, other]) => one - other)
    expect(counted(...inOrder).length).toBe(drawn.digits.length)
  })
})
