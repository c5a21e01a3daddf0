import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import * as LocalBridge from "../../../src/media/mix/LocalBridge.ts"

const filled = (sample: number): Frame.Frame => {
  const frame = Frame.make(8000)
  frame.samples.fill(sample)
  return frame
}

describe("A bridge of two legs", () => {
  it("one end says what the other was given to hear, once", () => {
    const [a, b] = [LocalBridge.make(8000, () => undefined), LocalBridge.make(8000, () => undefined)]
    a.join(b)
    expect(a.ready() && b.ready()).toBe(true)
    const frame = filled(7)
    const heard = Frame.make(8000)
    a.hear(frame, 0)
    b.say(heard, 10)
    expect(heard).toStrictEqual(frame)
    b.say(heard, 30)
    expect(heard).toStrictEqual(Frame.make(8000))
  })

  it("closing one end leaves the other alone and silent", () => {
    const [a, b] = [LocalBridge.make(8000, () => undefined), LocalBridge.make(8000, () => undefined)]
    a.join(b)
    a.hear(filled(7), 0)
    a.close(10)
    const heard = filled(1)
    b.say(heard, 20)
    expect(heard).toStrictEqual(Frame.make(8000))
    expect(b.ready()).toBe(false)
  })

  it("an end that was left hears again when another one is joined to it", () => {
    const [a, b, c] = [8000, 8000, 16_000].map((rate) =>
      LocalBridge.make(rate === 8000 ? 8000 : 16_000, () => undefined)
    )
    if (a === undefined || b === undefined || c === undefined) return expect.unreachable()
    a.join(b)
    b.close(0)
    c.join(a)
    b.hear(filled(5), 0)
    for (let i = 0; i < 3; i++) c.hear({ rate: 16_000, samples: new Int16Array(320).fill(1000) }, 0)
    const heard = Frame.make(8000)
    expect(a.say(heard, 10)).toBe(true)
    expect(heard.samples[159]).toBeGreaterThan(900)
    a.hear(filled(7), 20)
    expect(c.say(Frame.make(16_000), 30)).toBe(true)
  })

  it("brings what one end hears to the rate of the other", () => {
    const wide = LocalBridge.make(16_000, () => undefined)
    const narrow = LocalBridge.make(8000, () => undefined)
    wide.join(narrow)
    const tone = Tone.sine(1000, -10, 200, 16_000)
    const frame = Frame.make(16_000)
    const heard: Array<number> = []
    for (let at = 0; at < tone.length; at += 320) {
      frame.samples.set(tone.subarray(at, at + 320))
      wide.hear(frame, 0)
      const out = Frame.make(8000)
      narrow.say(out, 0)
      heard.push(...out.samples)
    }
    expect(Goertzel.level(Int16Array.from(heard.slice(160)), 1000, 8000)).closeTo(-10, 0.1)
  })
})
