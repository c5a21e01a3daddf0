import { describe, expect, it } from "@effect/vitest"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as RingbackTone from "../../../src/protocol/audio/RingbackTone.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import * as RingbackSource from "../../../src/media/mix/RingbackSource.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"
import * as Click from "./Click.ts"

const setup = (rate: SampleRate = 8000) => {
  const fake = FakeLeg.make({ rate })
  let now = 0
  return {
    ...fake,
    ring: (isOn: boolean) => fake.leg.command({ type: "ringback", isOn }),
    hear: (ms: number): Int16Array => {
      fake.take()
      for (const end = now + ms; now < end; now += 20) fake.leg.tick(now)
      return fake.take()
    }
  }
}

const isSilent = (samples: Int16Array) => samples.every((sample) => sample === 0)

describe("Ring-back", () => {
  it.each([8000, 16_000] as const)("is 440 and 480 Hz for 2 s of each 6 s by default, at %i Hz", (rate) => {
    const { hear, ring } = setup(rate)
    ring(true)
    for (let round = 0; round < 2; round++) {
      const sound = hear(2000)
      for (const frequency of [440, 480])
        expect(Goertzel.level(sound.subarray(rate / 10, rate), frequency, rate)).toBeCloseTo(-24, 0)
      expect(isSilent(sound.subarray(sound.length - rate / 50))).toBe(false)
      expect(isSilent(hear(4000))).toBe(true)
    }
  })

  it("comes and goes without a click, in each burst and when it is told to", () => {
    const { hear, ring } = setup()
    ring(true)
    ring(true)
    const sound = [hear(6500)]
    ring(false)
    sound.push(hear(40))
    ring(true)
    sound.push(hear(100))
    const whole = Int16Array.from(sound.flatMap((part) => [...part]))
    expect(Click.largest(whole)).toBeLessThan(150)
  })

  it("has gone 20 ms after it is told to, and is told so twice without harm", () => {
    const { hear, ring } = setup()
    ring(true)
    hear(100)
    ring(false)
    ring(false)
    hear(20)
    expect(isSilent(hear(200))).toBe(true)
  })

  it("waits while something is played, and goes on in its rhythm behind it", () => {
    const { hear, leg, ring } = setup()
    ring(true)
    hear(500)
    leg.command(Media.play(Ids.work("p"), "https://a/"))
    leg.player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(1000, -12, 600, 8000) }, true)
    const both = hear(600)
    expect(Goertzel.level(both.subarray(800, 4000), 1000, 8000)).toBeCloseTo(-12, 1)
    expect(Goertzel.level(both.subarray(800, 4000), 440, 8000)).toBeLessThan(-60)
    const behind = hear(880)
    expect(Goertzel.level(behind.subarray(800, 4000), 440, 8000)).toBeCloseTo(-24, 0)
    hear(20)
    expect(isSilent(hear(3000))).toBe(true)
  })

  it("is gone when the leg is bridged, stays away, and cannot begin there", () => {
    const [a, b] = [setup(), FakeLeg.make()]
    a.ring(true)
    a.hear(200)
    const bridge = Bridge.make(a.leg, b.leg)
    a.hear(20)
    expect(isSilent(a.hear(400))).toBe(true)
    a.ring(true)
    expect(isSilent(a.hear(400))).toBe(true)
    bridge.end(1000)
    a.hear(20)
    expect(isSilent(a.hear(400))).toBe(true)
  })

  it.each(RingbackTone.countries)("has a cadence of whole frames in %s, sound and silence in turn", (country) => {
    const { cadenceMs } = RingbackTone.table[country]
    expect(cadenceMs.length % 2).toBe(0)
    const source = RingbackSource.make(RingbackTone.table[country])
    for (const [i, ms] of [...cadenceMs, ...cadenceMs].entries())
      for (let at = 0; at < ms; at += 20) expect(source.next(8000, 160, 0) !== null).toBe(i % 2 === 0)
  })
})
