import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ramp from "../../../src/audio/Ramp.ts"
import type { SampleRate } from "../../../src/audio/SampleRate.ts"
import * as Tone from "../../../src/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import type { MediaEvent } from "../../../src/media/message/MediaMessage.ts"
import * as Player from "../../../src/media/mix/Player.ts"
import * as Ids from "../../support/Ids.ts"

const setup = () => {
  const events: Array<string> = []
  const player = Player.make((event: MediaEvent) => {
    if (event.type === "ended")
      events.push(`${event.id} ${event.status}${event.reason === null ? "" : ` ${event.reason}`}`)
  })
  const render = (frames: number, rate: SampleRate = 8000, wanted = Frame.lengthAt(rate)): Array<number> =>
    Array.from({ length: frames }).flatMap(() => [
      ...(player.next(rate, wanted, 0)?.samples ?? Frame.make(rate).samples)
    ])
  return { events, player, render }
}
const samples = (length: number, first = 1) => Int16Array.from({ length }, (_, i) => first + i)
/** A sound as it is played: its ends are ramps. */
const faded = (sound: Int16Array): Array<number> => {
  const copy = Int16Array.from(sound)
  Ramp.fadeIn(copy, 8000, 0, 0, copy.length)
  Ramp.fadeOut(copy, 8000, copy.length, 0, copy.length)
  return [...copy]
}
const sound = (length: number, first = 1): Frame.Sound => ({ rate: 8000, samples: samples(length, first) })

describe("Player", () => {
  it("plays a sound to its last sample, padded with silence, and tells its end", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), 1)
    player.supply(Ids.work("p"), sound(200))
    const heard = render(3)
    expect(heard.slice(0, 200)).toEqual(faded(samples(200)))
    expect(heard.slice(40, 160)).toEqual([...samples(200)].slice(40, 160))
    expect(heard.slice(200).every((sample) => sample === 0)).toBe(true)
    expect(events).toStrictEqual(["p completed"])
  })

  it("repeats a sound without a gap, one shorter than a frame too", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), 4)
    player.supply(Ids.work("p"), sound(50))
    const heard = render(3)
    const four = Int16Array.from([1, 2, 3, 4].flatMap(() => [...samples(50)]))
    expect(heard.slice(0, 200)).toEqual(faded(four))
    expect(heard.slice(200).every((sample) => sample === 0)).toBe(true)
    expect(events).toStrictEqual(["p completed"])
  })

  it("keeps the order of asking whatever sound comes first", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("first"), 1)
    player.play(Ids.work("second"), 1)
    player.supply(Ids.work("second"), sound(160, 500))
    expect(render(2).every((sample) => sample === 0)).toBe(true)
    player.supply(Ids.work("first"), sound(160))
    expect(render(3).slice(0, 320)).toEqual([...faded(samples(160)), ...faded(samples(160, 500))])
    expect(events).toStrictEqual(["first completed", "second completed"])
  })

  it("goes on with the next when one fails", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("bad"), 1)
    player.play(Ids.work("void"), 1)
    player.play(Ids.work("good"), 1)
    player.supply(Ids.work("good"), sound(160))
    player.fail(Ids.work("bad"), "http_404")
    player.supply(Ids.work("void"), sound(0))
    render(2)
    expect(events).toStrictEqual(["bad failed http_404", "void failed empty", "good completed"])
  })

  it("stops the present one, or all", () => {
    const { events, player, render } = setup()
    for (const id of ["a", "b", "c"].map(Ids.work)) player.play(id, 100)
    player.supply(Ids.work("a"), sound(160))
    render(1)
    player.stop("current")
    player.supply(Ids.work("a"), sound(160))
    player.stop("all")
    player.stop("all")
    expect(events).toStrictEqual(["a stopped", "b stopped", "c stopped"])
    const last = Int16Array.from(samples(40))
    Ramp.fadeOut(last, 8000, 40, 0, 40)
    expect(render(2)).toEqual([...last, ...new Int16Array(280)])
  })

  it("goes on where it was when only a part of a frame was heard", () => {
    const { player, render } = setup()
    player.play(Ids.work("p"), 1)
    player.supply(Ids.work("p"), sound(400))
    const heard = [...render(1), ...render(1, 8000, 40).slice(0, 40)]
    player.pass(0)
    expect([...heard, ...render(2)].slice(0, 400)).toEqual(faded(samples(400)))
  })

  it("refuses what exceeds its queue", () => {
    const { events, player } = setup()
    for (let i = 0; i <= Player.maxPlaybacks; i++) player.play(Ids.work(`p${i}`), 1)
    expect(events).toStrictEqual([`p${Player.maxPlaybacks} failed too_many_playbacks`])
  })

  it("brings a sound of another rate to that of the leg, its last milliseconds included", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), 1)
    player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(1000, -10, 200, 8000) })
    const heard = Int16Array.from(render(13, 16_000))
    expect(Goertzel.level(heard.subarray(160, 3200), 1000, 16_000)).closeTo(-10, 0.1)
    // The filter lags by 5 ms, so that the end of the sound is in the frame behind it.
    expect(Goertzel.totalLevel(heard.subarray(3200, 3264))).toBeGreaterThan(-15)
    expect(Goertzel.totalLevel(heard.subarray(3400))).toBeLessThan(-80)
    expect(events).toStrictEqual(["p completed"])
  })
})
