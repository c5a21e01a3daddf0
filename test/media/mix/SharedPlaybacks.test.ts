import { describe, expect, it } from "@effect/vitest"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import * as Player from "../../../src/media/mix/Player.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"
import * as Click from "./Click.ts"

/** Two silent legs, bridged, in slots of their own. */
const bridged = (rateA: SampleRate = 8000, rateB: SampleRate = 8000) => {
  const silent = (rate: SampleRate) => FakeLeg.make({ rate, say: ({ samples }) => void samples.fill(0) })
  const [a, b] = [silent(rateA), silent(rateB)]
  const bridge = Bridge.make(a.leg, b.leg)
  let now = 0
  return {
    a,
    b,
    part: () => bridge.end(now),
    close: (which: FakeLeg.FakeLeg) => which.leg.close(now),
    run: (ms: number) => {
      for (const end = now + ms; now < end; now++) {
        if (now % 20 === 3) a.leg.tick(now)
        if (now % 20 === 10) b.leg.tick(now)
      }
    }
  }
}
const play = (
  { leg }: FakeLeg.FakeLeg,
  name: string,
  target: "self" | "opposite" | "both",
  options: { readonly loop?: number } = {}
) => leg.command(Media.play(Ids.work(name), "https://a/", options.loop, target))

/** Supplies the sound that a leg is to play: a tone, whole. */
const supply = ({ leg }: FakeLeg.FakeLeg, name: string, ms: number, frequency = 700) => {
  const samples = new Int16Array(8 * ms)
  Tone.oscillator([{ frequency, dbfs: -12 }], 8000).render(samples)
  leg.player.supply(Ids.work(name), { rate: 8000, samples }, true)
}
const ends = ({ events }: { readonly events: ReadonlyArray<MediaEvent> }) =>
  events.flatMap((event) =>
    event.type === "ended" ? [`${event.id} ${event.status}${event.reason === null ? "" : ` ${event.reason}`}`] : []
  )
const level = (heard: Int16Array, frequency: number, rate: SampleRate = 8000) => Goertzel.level(heard, frequency, rate)

describe("A sound for the other leg of a bridge", () => {
  it.each([
    [8000, 8000],
    [8000, 16_000],
    [48_000, 8000]
  ] as const)("is heard there and not here, at %i and %i Hz, and its end is told here alone", (rateA, rateB) => {
    const { a, b, run } = bridged(rateA, rateB)
    play(a, "p", "opposite")
    supply(b, "p", 200)
    run(200)
    expect(level(a.take(), 700, rateA)).toBeLessThan(-70)
    expect(level(b.take().subarray(rateB / 20), 700, rateB)).toBeCloseTo(-12, 0)
    run(60)
    expect([ends(a), ends(b)]).toEqual([["p completed"], []])
  })

  it("for both is heard by both, as often as it was asked for, and has one end", () => {
    const { a, b, run } = bridged()
    play(a, "p", "both", { loop: 2 })
    supply(a, "p", 100)
    run(400)
    expect(ends(a)).toEqual([])
    supply(b, "p", 100)
    run(150)
    // It is heard for the second time.
    expect(level(b.take().subarray(-240), 700)).toBeCloseTo(-12, 0)
    expect(ends(a)).toEqual([])
    run(100)
    expect([ends(a), ends(b)]).toEqual([["p completed"], []])
  })

  it("that cannot be had by one of both is told as failed when the other has ended", () => {
    const { a, b, run } = bridged()
    play(a, "p", "both")
    b.leg.player.fail(Ids.work("p"), "overloaded")
    expect(ends(a)).toEqual([])
    supply(a, "p", 100)
    run(200)
    expect(ends(a)).toEqual(["p failed overloaded"])
  })

  it("fails where there is no bridge", () => {
    const { a, part } = bridged()
    part()
    play(a, "p", "opposite")
    play(a, "q", "both")
    expect(ends(a)).toEqual(["p failed not_bridged", "q failed not_bridged"])
  })

  it("stops without a click when the bridge is over; here it goes on, and is told then", () => {
    const { a, b, part, run } = bridged()
    play(a, "p", "both")
    play(a, "q", "opposite")
    for (const leg of [a, b]) supply(leg, "p", 400)
    run(200)
    part()
    expect(ends(a)).toEqual(["q stopped unbridged"])
    a.take()
    run(100)
    const there = b.take()
    expect(Click.largest(there)).toBeLessThan(2 * 5200)
    expect(there.subarray(-600).every((sample) => sample === 0)).toBe(true)
    expect(level(a.take(), 700)).toBeCloseTo(-12, 0)
    run(200)
    expect(ends(a)).toEqual(["q stopped unbridged", "p stopped unbridged"])
  })

  it("ends with either leg", () => {
    const first = bridged()
    play(first.a, "p", "both")
    for (const leg of [first.a, first.b]) supply(leg, "p", 400)
    first.run(100)
    first.close(first.a)
    expect(ends(first.a)).toEqual(["p stopped unbridged"])
    first.b.take()
    first.run(100)
    expect(
      first.b
        .take()
        .subarray(-600)
        .every((sample) => sample === 0)
    ).toBe(true)

    const second = bridged()
    play(second.a, "p", "opposite")
    second.close(second.b)
    expect(ends(second.a)).toEqual(["p stopped unbridged"])
  })

  it("stands in the queue of that leg, behind what it plays itself", () => {
    const { a, b, run } = bridged()
    play(b, "own", "self")
    play(a, "p", "opposite")
    supply(b, "own", 100, 1200)
    supply(b, "p", 100)
    run(100)
    expect(level(b.take().subarray(-400), 700)).toBeLessThan(-40)
    run(120)
    expect(level(b.take().subarray(-720, -160), 700)).toBeGreaterThan(-15)
    run(60)
    expect([ends(a), ends(b)]).toEqual([["p completed"], ["own completed"]])
  })

  it("and that leg's for this one are heard at once, each where it is for", () => {
    const { a, b, run } = bridged()
    play(a, "to b", "opposite")
    play(b, "to a", "opposite")
    supply(b, "to b", 200, 700)
    supply(a, "to a", 200, 1200)
    run(200)
    const [heardA, heardB] = [a.take().subarray(400), b.take().subarray(400)]
    expect([level(heardA, 1200) > -15, level(heardA, 700) < -50]).toEqual([true, true])
    expect([level(heardB, 700) > -15, level(heardB, 1200) < -50]).toEqual([true, true])
    run(60)
    expect([ends(a), ends(b)]).toEqual([["to b completed"], ["to a completed"]])
  })
})

describe("Stopping", () => {
  it("ends what this leg was asked for, wherever it is heard, and nothing of the other", () => {
    const { a, b } = bridged()
    play(b, "of b", "self")
    play(b, "of b, there", "opposite")
    play(a, "there", "opposite")
    play(a, "both", "both")
    a.leg.command({ type: "stop_playback", which: "all" })
    expect([ends(a), ends(b)]).toEqual([["there stopped", "both stopped"], []])
    b.leg.command({ type: "stop_playback", which: "all" })
    expect(ends(b)).toEqual(["of b stopped", "of b, there stopped"])
  })

  it("the present one ends what is heard, here and there, and lets wait what waits", () => {
    const { a, b } = bridged()
    play(a, "first", "both")
    play(a, "here", "self")
    play(a, "there", "opposite")
    a.leg.command({ type: "stop_playback", which: "current" })
    expect(ends(a)).toEqual(["first stopped"])
    a.leg.command({ type: "stop_playback", which: "current" })
    expect(ends(a)).toEqual(["first stopped", "here stopped", "there stopped"])
    play(b, "of b", "self")
    a.leg.command({ type: "stop_playback", which: "current" })
    expect(ends(b)).toEqual([])
  })

  it("for a prompt ends all that this leg hears, whoever was asked for it, and nothing that the other hears", () => {
    const { a, b } = bridged()
    play(a, "here", "self")
    play(a, "there", "opposite")
    play(b, "from b", "opposite")
    a.leg.command({ type: "prompt", id: Ids.work("q"), sound: { type: "url", url: "https://a/" }, stoppedBy: "1" })
    expect([ends(a), ends(b)]).toEqual([["here stopped"], ["from b stopped"]])
  })
})

describe("The places in a queue", () => {
  it("are counted for each leg that is asked: what one plays takes none from the other", () => {
    const { a, b } = bridged()
    for (let n = 0; n < Player.maxPlaybacks; n++) {
      play(b, `b${n}`, "self")
      play(a, `a${n}`, "opposite")
    }
    expect([ends(a), ends(b)]).toEqual([[], []])
    play(a, "more", "opposite")
    play(b, "more", "self")
    expect([ends(a), ends(b)]).toEqual([["more failed too_many_playbacks"], ["more failed too_many_playbacks"]])
  })
})
