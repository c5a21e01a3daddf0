import { describe, expect, it } from "@effect/vitest"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Ids from "../../support/Ids.ts"
import * as Click from "./Click.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"

const setup = (rate: SampleRate) => {
  const { heard, leg } = FakeLeg.make({ rate })
  let now = 0
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 20) leg.tick(now)
  }
  const play = (name: string, sound: Int16Array, soundRate: SampleRate = rate) => {
    leg.command(Media.play(Ids.work(name), "https://a/"))
    leg.player.supply(Ids.work(name), { rate: soundRate, samples: sound }, true)
  }
  return { heard, leg, run, play }
}

/** A cosine that is at its peak after whole milliseconds, where a cut is loudest; it ends there too. */
const cosine = (ms: number, rate: SampleRate) =>
  Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) => 8000 * Math.cos((2 * Math.PI * 500 * i) / rate))
const steady = (rate: SampleRate) => Click.largest(cosine(1000, rate))

describe.each([8000, 16_000] as const)("What is played at %i Hz does not click", (rate) => {
  // Samples are whole numbers: rounding alone makes a fourth difference of up to 16.
  const quiet = (heard: ReadonlyArray<number>) =>
    expect(Click.largest(Int16Array.from([0, 0, 0, 0, 0, ...heard]))).toBeLessThan(2 * steady(rate) + 16)

  it("when it is stopped, nor when the next begins behind it", () => {
    const { heard, leg, play, run } = setup(rate)
    play("p", cosine(1000, rate))
    play("q", cosine(1000, rate))
    run(200)
    leg.command({ type: "stop_playback", which: "current" })
    run(200)
    leg.command(Media.stopPlayback)
    run(100)
    quiet(heard)
    expect(heard.slice(-100 * (rate / 1000)).some((sample) => sample !== 0)).toBe(true)
    expect(heard.slice(-80 * (rate / 1000)).every((sample) => sample === 0)).toBe(true)
  })

  it("when it was brought to the rate of the leg, and is stopped", () => {
    const { heard, leg, play, run } = setup(rate)
    play("p", cosine(1000, 24_000), 24_000)
    run(200)
    leg.command(Media.stopPlayback)
    run(100)
    quiet(heard)
    expect(heard.slice(-80 * (rate / 1000)).every((sample) => sample === 0)).toBe(true)
  })

  it("when it begins and ends in the middle of a wave", () => {
    const { heard, play, run } = setup(rate)
    play("p", cosine(101, rate))
    play("q", cosine(3, rate))
    run(300)
    quiet(heard)
  })

  it("where digits cut it, and where it goes on behind them", () => {
    const { heard, leg, play, run } = setup(rate)
    play("p", cosine(1000, rate))
    run(200)
    leg.command(Media.dtmf(Ids.work("d"), "5"))
    run(500)
    quiet(heard)
    expect(heard.slice(-20).some((sample) => sample !== 0)).toBe(true)
  })
})
