import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import type { PacketFormat } from "../../../src/media/FarEnd.ts"
import * as Ids from "../../support/Ids.ts"
import * as Click from "./Click.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"

const pcmu: PacketFormat = { codec: "PCMU", telephoneEvents: 8000 }
const pcma: PacketFormat = { ...pcmu, codec: "PCMA" }

/** A leg whose far end sends a tone. */
const toned = (frequency: number, rate: SampleRate, options: FakeLeg.Options = {}) => {
  const tone = Tone.oscillator([{ frequency, dbfs: -12 }], rate)
  return FakeLeg.make({ rate, say: ({ samples }) => tone.render(samples), ...options })
}

/** Two legs in slots of their own, 7 ms apart. */
const pair = (a: FakeLeg.FakeLeg, b: FakeLeg.FakeLeg) => {
  let now = 0
  return {
    a,
    b,
    now: () => now,
    run: (ms: number) => {
      for (const end = now + ms; now < end; now++) {
        if (now % 20 === 3) a.leg.tick(now)
        if (now % 20 === 10) b.leg.tick(now)
      }
    }
  }
}
const level = (heard: Int16Array, frequency: number, rate: SampleRate) =>
  Goertzel.level(heard.subarray(heard.length - rate / 10), frequency, rate)

describe("Two bridged legs", () => {
  it.each([
    [8000, 8000],
    [16_000, 8000],
    [8000, 48_000]
  ] as const)("hear each other at %i and %i Hz, level for level, and not themselves", (rateA, rateB) => {
    const { a, b, run } = pair(toned(440, rateA), toned(1000, rateB))
    Bridge.make(a.leg, b.leg)
    run(400)
    const [heardA, heardB] = [a.take(), b.take()]
    expect(level(heardA, 1000, rateA)).toBeCloseTo(-12, 1)
    expect(level(heardA, 440, rateA)).toBeLessThan(-70)
    expect(level(heardB, 440, rateB)).toBeCloseTo(-12, 1)
    expect(level(heardB, 1000, rateB)).toBeLessThan(-70)
  })

  it("hear what was said without delay: each is read in the slot in which the other is sent to", () => {
    const { a, b, run } = pair(toned(440, 8000), toned(1000, 8000))
    Bridge.make(a.leg, b.leg)
    run(60)
    expect(a.said).toEqual([10, 30, 50])
    expect(b.said).toEqual([3, 23, 43])
  })

  it("meet and part without a click, and each frame of a far end is read once", () => {
    const { a, b, now, run } = pair(toned(440, 8000), toned(500, 8000))
    run(100)
    const bridge = Bridge.make(a.leg, b.leg)
    run(200)
    bridge.end(now())
    run(100)
    for (const { heard, said } of [a, b]) {
      expect(Click.largest(Int16Array.from(heard))).toBeLessThan(2 * 150)
      expect(heard.slice(-640).every((sample) => sample === 0)).toBe(true)
      expect(said.length).toBe(20)
    }
  })

  it.each([
    [8000, 16_000, 8000],
    [16_000, 8000, 8000],
    [8000, 48_000, 16_000]
  ] as const)("hear no click when one of them goes on at %i, %i and the other at %i Hz", (rate, next, other) => {
    const rates = [8000, 16_000, 48_000] as const
    const tones = rates.map((of) => ({ of, tone: Tone.oscillator([{ frequency: 440, dbfs: -12 }], of) }))
    const a = FakeLeg.make({
      rate,
      say: (out) => {
        // All tones advance, so that the rendered one is continuous.
        for (const { of, tone } of tones) tone.render(of === out.rate ? out.samples : new Int16Array(of / 50))
      }
    })
    const { b, run } = pair(a, toned(440, other))
    Bridge.make(a.leg, b.leg)
    run(200)
    a.take()
    b.take()
    run(200)
    const told = a.take()
    b.take()
    a.present.rate = next
    run(200)
    const [heard, changed] = [b.take(), a.take()]
    // A sixth of it is the height of a step: -50 dBFS.
    const most = (sound: Int16Array, of: SampleRate) => Math.max(2 * Click.largest(sound.subarray(of / 10)), 6 * 100)
    expect(Click.largest(heard)).toBeLessThan(most(heard, other))
    // The sound it hears has another rate after the change, so the step is judged.
    expect(Click.largest(changed)).toBeLessThan(most(changed, next))
    expect(Math.abs((changed[0] ?? 0) - (told.at(-1) ?? 0))).toBeLessThan(
      (2 * 8231 * Math.PI * 440) / Math.min(rate, next)
    )
  })

  it("are by themselves again when one is closed, and may be bridged anew", () => {
    const { a, b, now, run } = pair(toned(440, 8000), toned(1000, 8000))
    Bridge.make(a.leg, b.leg)
    run(100)
    a.leg.close(now())
    b.take()
    run(100)
    expect(b.leg.isJoined()).toBe(false)
    expect(
      b
        .take()
        .slice(-640)
        .every((sample) => sample === 0)
    ).toBe(true)
    expect(a.present.isClosed).toBe(true)
    const c = toned(700, 8000)
    const next = pair(c, b)
    Bridge.make(c.leg, b.leg)
    next.run(200)
    expect(level(b.take(), 700, 8000)).toBeCloseTo(-12, 1)
  })

  it("send digits on, and go on playing and being tapped", () => {
    const { a, b, run } = pair(toned(440, 8000), toned(1000, 8000, { takesDigits: true }))
    Bridge.make(a.leg, b.leg)
    const tapped: Array<string> = []
    a.leg.taps.add({
      wants: (track) => track === "inbound",
      hear: (_, __, at) => void tapped.push(String(at)),
      ended: () => undefined
    })
    run(100)
    a.leg.digit("7", 100)
    run(300)
    expect(b.digits).toEqual(["7"])
    expect(a.events).toEqual([{ type: "dtmf", digit: "7", at: 100 }])
    expect(b.events).toEqual([])
    expect(tapped).toEqual(Array.from({ length: 20 }, (_, i) => String(10 + 20 * i)))
    b.leg.command(Media.play(Ids.work("p"), "https://a/"))
    b.leg.player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(2000, -20, 500, 8000) }, true)
    run(300)
    const heard = b.take()
    expect(level(heard, 2000, 8000)).toBeCloseTo(-20, 1)
    expect(level(heard, 440, 8000)).toBeCloseTo(-12, 1)
  })

  it("a far end that fails ends its own leg, and the other goes on", () => {
    let broken = false
    const { a, b, run } = pair(
      FakeLeg.make({
        say: () => {
          if (broken) throw new Error("far end")
        }
      }),
      toned(1000, 8000)
    )
    Bridge.make(a.leg, b.leg)
    run(100)
    broken = true
    run(200)
    expect(a.faults.length).toBe(1)
    expect(b.faults).toEqual([])
    expect(b.heard.length).toBe(15 * 160)
    a.leg.close(300)
    expect(b.leg.isJoined()).toBe(false)
  })

  it("could pass packets on while both have one format, and nobody else has anything to say", () => {
    const { a, b, now, run } = pair(toned(440, 8000, { format: pcmu }), toned(1000, 8000, { format: { ...pcmu } }))
    const bridge = Bridge.make(a.leg, b.leg)
    expect(bridge.couldForward()).toBe(false)
    run(40)
    expect(bridge.couldForward()).toBe(true)
    a.leg.taps.add({ wants: () => true, hear: () => undefined, ended: () => undefined })
    expect(bridge.couldForward()).toBe(true)
    a.leg.digit("1", 0)
    expect(bridge.couldForward()).toBe(false)
    run(400)
    expect(bridge.couldForward()).toBe(true)
    b.leg.command(Media.play(Ids.work("p"), "https://a/"))
    expect(bridge.couldForward()).toBe(true)
    b.leg.player.supply(Ids.work("p"), { rate: 8000, samples: new Int16Array(1600).fill(5) }, true)
    expect(bridge.couldForward()).toBe(false)
    run(300)
    expect(bridge.couldForward()).toBe(true)
    bridge.end(now())
    expect(bridge.couldForward()).toBe(false)
  })

  it.each([
    [pcmu, null],
    [pcmu, pcma],
    [pcmu, { ...pcmu, telephoneEvents: null }]
  ])("could not between %j and %j", (one, other) => {
    const { a, b, run } = pair(toned(440, 8000, { format: one }), toned(1000, 8000, { format: other }))
    const bridge = Bridge.make(a.leg, b.leg)
    run(100)
    expect(bridge.couldForward()).toBe(false)
  })
})
