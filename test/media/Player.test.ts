import { assert, describe, it } from "@effect/vitest"
import * as Goertzel from "../../src/audio/Goertzel.ts"
import * as Tone from "../../src/audio/Tone.ts"
import * as Frame from "../../src/media/Frame.ts"
import type { MediaEvent } from "../../src/media/message/MediaMessage.ts"
import * as Player from "../../src/media/Player.ts"
import * as Ids from "../support/Ids.ts"

const setup = () => {
  const events: Array<string> = []
  const player = Player.make((event: MediaEvent) => {
    if (event.type === "ended")
      events.push(`${event.id} ${event.status}${event.reason === null ? "" : ` ${event.reason}`}`)
  })
  const out = Frame.make(8000)
  const render = (frames: number): Array<number> =>
    Array.from({ length: frames }).flatMap(() => {
      player.render(out)
      return [...out.samples]
    })
  return { events, player, render }
}
const samples = (length: number, first = 1) => Int16Array.from({ length }, (_, i) => first + i)
const sound = (length: number, first = 1): Frame.Sound => ({ rate: 8000, samples: samples(length, first) })

describe("Player", () => {
  it("plays a sound to its last sample, padded with silence, and tells its end", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), 1)
    player.supply(Ids.work("p"), sound(200))
    const heard = render(3)
    assert.deepStrictEqual(heard.slice(0, 200), [...samples(200)])
    assert.isTrue(heard.slice(200).every((sample) => sample === 0))
    assert.deepStrictEqual(events, ["p completed"])
  })

  it("repeats a sound without a gap, one shorter than a frame too", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), 4)
    player.supply(Ids.work("p"), sound(50))
    const heard = render(3)
    assert.deepStrictEqual(heard.slice(0, 200), [...samples(50), ...samples(50), ...samples(50), ...samples(50)])
    assert.isTrue(heard.slice(200).every((sample) => sample === 0))
    assert.deepStrictEqual(events, ["p completed"])
  })

  it("keeps the order of asking whatever sound comes first", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("first"), 1)
    player.play(Ids.work("second"), 1)
    player.supply(Ids.work("second"), sound(160, 500))
    assert.isTrue(render(2).every((sample) => sample === 0))
    player.supply(Ids.work("first"), sound(160))
    assert.deepStrictEqual(render(3).slice(0, 320), [...samples(160), ...samples(160, 500)])
    assert.deepStrictEqual(events, ["first completed", "second completed"])
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
    assert.deepStrictEqual(events, ["bad failed http_404", "void failed empty", "good completed"])
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
    assert.isTrue(render(1).every((sample) => sample === 0))
    assert.deepStrictEqual(events, ["a stopped", "b stopped", "c stopped"])
  })

  it("refuses what exceeds its queue", () => {
    const { events, player } = setup()
    for (let i = 0; i <= Player.maxPlaybacks; i++) player.play(Ids.work(`p${i}`), 1)
    assert.deepStrictEqual(events, [`p${Player.maxPlaybacks} failed too_many_playbacks`])
  })

  it("brings a sound of another rate to that of the leg, its last milliseconds included", () => {
    const { events, player } = setup()
    player.play(Ids.work("p"), 1)
    player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(1000, -10, 200, 8000) })
    const out = Frame.make(16_000)
    const heard = Int16Array.from(
      Array.from({ length: 13 }).flatMap(() => {
        player.render(out)
        return [...out.samples]
      })
    )
    assert.closeTo(Goertzel.level(heard.subarray(160, 3200), 1000, 16_000), -10, 0.1)
    // The filter lags by 5 ms, so that the end of the sound is in the frame behind it.
    assert.isAbove(Goertzel.totalLevel(heard.subarray(3200, 3264)), -12)
    assert.isBelow(Goertzel.totalLevel(heard.subarray(3400)), -80)
    assert.deepStrictEqual(events, ["p completed"])
  })
})
