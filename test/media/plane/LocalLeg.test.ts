import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"

const setup = (takesDigits = true) => {
  const fake = FakeLeg.make({ takesDigits, say: (out) => void out.samples.fill(7) })
  let now = 0
  return {
    leg: fake.leg,
    /** Returns the sound that the far end is sent in this time at this rate. */
    hear: (at: SampleRate, ms: number): Int16Array => {
      fake.present.rate = at
      fake.take()
      for (const end = now + ms; now < end; now += 20) fake.leg.tick(now)
      return fake.take()
    }
  }
}

const levelOf = (heard: Int16Array, frequency: number, rate: SampleRate) =>
  Goertzel.level(heard.subarray(rate / 50), frequency, rate)

describe("A leg", () => {
  it("runs at the rate of its far end, also when that changes in the middle of a sound", () => {
    const { hear, leg } = setup()
    leg.command(Media.play(Ids.work("p"), "https://a/"))
    leg.player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(500, -12, 2000, 8000) }, true)
    for (const rate of [8000, 16_000, 48_000, 24_000, 8000] as const) {
      const heard = hear(rate, 220)
      expect(levelOf(heard, 500, rate)).toBeCloseTo(-12, 1)
      expect(leg.read(0)).toStrictEqual({ rate, samples: new Int16Array(rate / 50).fill(7) })
    }
  })

  it("sends digits as tones of the right frequencies at any rate, also when that changes within a digit", () => {
    const { hear, leg } = setup(false)
    leg.command(Media.dtmf(Ids.work("d"), "5", 1000))
    for (const rate of [8000, 16_000, 48_000] as const) {
      const heard = hear(rate, 220)
      expect(levelOf(heard, 770, rate)).toBeCloseTo(-11, 0)
      expect(levelOf(heard, 1336, rate)).toBeCloseTo(-9, 0)
    }
  })

  it("counts no more digits than anybody presses: 64 at once, then one in 40 ms", () => {
    const { events, leg } = FakeLeg.make()
    const flood = (at: number) => {
      for (let i = 0; i < 1000; i++) leg.digit("1", at)
      return events.length
    }
    expect(flood(0)).toBe(64)
    expect(flood(80)).toBe(66)
    for (let at = 120; at < 10_000; at += 62.5) leg.digit("2", at)
    expect(events.length).toBe(66 + 159)
  })

  it("stops a prompt within the frame behind a digit, tells the digit first, and plays on what waits behind", () => {
    const fake = FakeLeg.make()
    const { leg } = fake
    leg.command(Media.play(Ids.work("before"), "https://a/"))
    leg.command(Media.prompt(Ids.work("prompt"), "Please press a digit."))
    leg.player.supply(Ids.work("prompt"), { rate: 8000, samples: Tone.sine(500, -12, 2000, 8000) }, false)
    let now = 0
    const run = (frames: number) => {
      fake.take()
      for (let frame = 0; frame < frames; frame++, now += 20) leg.tick(now)
      return fake.take()
    }
    expect(levelOf(run(10), 500, 8000)).toBeCloseTo(-12, 1)
    leg.digit("A", now)
    leg.digit("5", now)
    const behind = run(5)
    expect(behind.subarray(40).every((sample) => sample === 0)).toBe(true)
    expect(fake.events).toStrictEqual([
      Media.stopped(Ids.work("before")),
      { type: "dtmf", digit: "A", at: 200 },
      { type: "dtmf", digit: "5", at: 200 },
      Media.stopped(Ids.work("prompt"))
    ])
  })
})
