import { describe, expect, it } from "@effect/vitest"
import * as Attended from "../../../src/domain/time/Attended.ts"

describe("the time that a thread attended", () => {
  it("is the time that passed while it looks often enough", () => {
    const attended = Attended.make(500, 1_000)
    for (let now = 1_100; now <= 5_000; now += 100) attended.look(now)
    expect(attended.at(5_250)).toBe(4_250)
  })

  it("has a standstill of any length as one look", () => {
    const attended = Attended.make(500, 0)
    attended.look(100)
    expect(attended.at(60_100)).toBe(600)
    expect(attended.look(60_100)).toBe(600)
    expect(attended.look(60_200)).toBe(700)
  })
})
