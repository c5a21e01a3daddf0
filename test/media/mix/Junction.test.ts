import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import * as Slots from "../../../src/media/plane/Slots.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"
import * as MinimalRoom from "./MinimalRoom.ts"

const frequencies = [439, 761, 1151] as const

/** Three legs in slots, each with a tone of its own, and a room for them. */
const setup = () => {
  const slots = Slots.make()
  let now = 1000
  const fakes = frequencies.map((frequency) => {
    const tone = Tone.oscillator([{ frequency, dbfs: -20 }], 8000)
    const fake = FakeLeg.make({ say: ({ samples }) => tone.render(samples) })
    slots.add(fake.leg, now)
    return fake
  })
  const room = MinimalRoom.make(8000)
  slots.add(room, now)
  return {
    fakes,
    room,
    slots,
    now: () => now,
    run: (ms: number) => {
      for (const end = now + ms; now < end;) slots.tick(++now)
    }
  }
}
const levels = (heard: Int16Array) =>
  frequencies.map((frequency) => Goertzel.level(heard.subarray(-8000), frequency, 8000))

describe("A room over the walls of the media plane", () => {
  it("is one ticked object: each member hears all the others and not itself", () => {
    const { fakes, room, run } = setup()
    for (const { leg } of fakes) expect(room.join(leg)).toBe(true)
    run(1200)
    fakes.forEach(({ said, take }, self) => {
      levels(take()).forEach((level, i) => {
        if (i === self) expect(level).toBeLessThan(-60)
        else expect(level).toBeCloseTo(-20, 0)
      })
      expect(said.length).toBe(60)
    })
    expect(new Set(fakes.flatMap(({ said }) => said.slice(0, 1))).size).toBe(1)
  })

  it("leaves to a leg what it has: playbacks, digits and taps, and lets it go when it is closed", () => {
    const { fakes, now, room, run, slots } = setup()
    for (const { leg } of fakes) room.join(leg)
    const [first, second, third] = fakes
    if (first === undefined || second === undefined || third === undefined) return expect.fail("three legs")
    let tapped = 0
    first.leg.taps.add({ wants: () => true, hear: () => void tapped++, ended: () => undefined })
    first.leg.command(Media.play(Ids.work("p"), "https://a/"))
    first.leg.player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(2003, -20, 2000, 8000) }, true)
    run(1000)
    const heard = first.take()
    expect(Goertzel.level(heard.subarray(-4000), 2003, 8000)).toBeCloseTo(-20, 0)
    expect(levels(heard)[1]).toBeCloseTo(-20, 0)
    expect(tapped).toBe(100)
    slots.remove(second.leg)
    second.leg.close(now())
    run(1100)
    expect(levels(third.take())[1]).toBeLessThan(-60)
  })

  it("and a leg is a member of one junction at a time", () => {
    const { fakes, room } = setup()
    const [first, second, third] = fakes
    if (first === undefined || second === undefined || third === undefined) return expect.fail("three legs")
    Bridge.make(first.leg, second.leg)
    expect(room.join(first.leg)).toBe(false)
    expect(room.join(third.leg)).toBe(true)
  })
})
