import { describe, expect, it } from "@effect/vitest"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ramp from "../../../src/protocol/audio/Ramp.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import type { Asker } from "../../../src/media/mix/PlaybackQueue.ts"
import * as Player from "../../../src/media/mix/Player.ts"
import * as Ids from "../../support/Ids.ts"

const setup = () => {
  const events: Array<string> = []
  const wants: Array<string> = []
  const asker = (): Asker => ({
    ended: (id, { reason, status }) => void events.push(`${id} ${status}${reason === null ? "" : ` ${reason}`}`)
  })
  const own = asker()
  const player = Player.make(
    own,
    ({ id }) => void wants.push(id),
    (id) => void events.push(`${id} unwanted`)
  )
  const render = (frames: number, rate: SampleRate = 8000, wanted = Frame.lengthAt(rate)): Array<number> =>
    Array.from({ length: frames }).flatMap(() => [
      ...(player.next(rate, wanted, 0)?.samples ?? Frame.make(rate).samples)
    ])
  return { asker, events, own, player, render, wants }
}
const url = { type: "url", url: "https://a/" } as const
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
    player.play(Ids.work("p"), url)
    player.supply(Ids.work("p"), sound(200), true)
    const heard = render(3)
    expect(heard.slice(0, 200)).toEqual(faded(samples(200)))
    expect(heard.slice(40, 160)).toEqual([...samples(200)].slice(40, 160))
    expect(heard.slice(200).every((sample) => sample === 0)).toBe(true)
    expect(events).toStrictEqual(["p completed"])
  })

  it("repeats a sound without a gap, one shorter than a frame too", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), url, { loop: 4 })
    player.supply(Ids.work("p"), sound(50), true)
    const heard = render(3)
    const four = Int16Array.from([1, 2, 3, 4].flatMap(() => [...samples(50)]))
    expect(heard.slice(0, 200)).toEqual(faded(four))
    expect(heard.slice(200).every((sample) => sample === 0)).toBe(true)
    expect(events).toStrictEqual(["p completed"])
  })

  it("keeps the order of asking whatever sound comes first", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("first"), url)
    player.play(Ids.work("second"), url)
    player.supply(Ids.work("second"), sound(160, 500), true)
    expect(render(2).every((sample) => sample === 0)).toBe(true)
    player.supply(Ids.work("first"), sound(160), true)
    expect(render(3).slice(0, 320)).toEqual([...faded(samples(160)), ...faded(samples(160, 500))])
    expect(events).toStrictEqual(["first completed", "second completed"])
  })

  it("goes on with the next when one fails", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("bad"), url)
    player.play(Ids.work("void"), url)
    player.play(Ids.work("good"), url)
    player.fail(Ids.work("bad"), "http_404")
    player.supply(Ids.work("void"), sound(0), true)
    player.supply(Ids.work("good"), sound(160), true)
    render(2)
    expect(events).toStrictEqual(["bad failed http_404", "void failed empty", "good completed"])
  })

  it("stops the present one, or all", () => {
    const { events, own, player, render } = setup()
    for (const id of ["a", "b", "c"].map(Ids.work)) player.play(id, url, { loop: 100 })
    player.supply(Ids.work("a"), sound(160), true)
    render(1)
    expect(player.current(own)).toBe("a")
    player.stopOne(Ids.work("a"))
    player.supply(Ids.work("a"), sound(160), true)
    player.stop(null)
    player.stop(null)
    expect(events).toStrictEqual(["a stopped", "b stopped", "c stopped"])
    const last = Int16Array.from(samples(40))
    Ramp.fadeOut(last, 8000, 40, 0, 40)
    expect(render(2)).toEqual([...last, ...new Int16Array(280)])
  })

  it("wants nothing more of a sound that another leg was asked for once it has ended, and stops those of one alone", () => {
    const { asker, events, own, player, render } = setup()
    const other = asker()
    for (const [id, by] of [
      ["done", other],
      ["own", own],
      ["theirs", other]
    ] as const)
      player.play(Ids.work(id), url, { asker: by })
    player.supply(Ids.work("done"), sound(160), true)
    expect([player.current(own), player.current(other)]).toStrictEqual([null, "done"])
    render(2)
    player.stop(other, "unbridged")
    expect(events).toStrictEqual(["done unwanted", "done completed", "theirs unwanted", "theirs stopped unbridged"])
    expect(player.current(own)).toBe("own")
  })

  it("goes on where it was when only a part of a frame was heard", () => {
    const { player, render } = setup()
    player.play(Ids.work("p"), url)
    player.supply(Ids.work("p"), sound(400), true)
    const heard = [...render(1), ...render(1, 8000, 40).slice(0, 40)]
    player.pass(0)
    expect([...heard, ...render(2)].slice(0, 400)).toEqual(faded(samples(400)))
  })

  it("refuses what exceeds its queue", () => {
    const { events, player } = setup()
    for (let i = 0; i <= Player.maxPlaybacks; i++) player.play(Ids.work(`p${i}`), url)
    expect(events).toStrictEqual([`p${Player.maxPlaybacks} failed too_many_playbacks`])
  })

  it("brings a sound of another rate to that of the leg, its last milliseconds included", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), url)
    player.supply(Ids.work("p"), { rate: 8000, samples: Tone.sine(1000, -10, 200, 8000) }, true)
    const heard = Int16Array.from(render(13, 16_000))
    expect(Goertzel.level(heard.subarray(160, 3200), 1000, 16_000)).closeTo(-10, 0.1)
    // The filter lags by 5 ms, so the end of the sound is in the next frame.
    expect(Goertzel.totalLevel(heard.subarray(3200, 3264))).toBeGreaterThan(-15)
    expect(Goertzel.totalLevel(heard.subarray(3400))).toBeLessThan(-80)
    expect(events).toStrictEqual(["p completed"])
  })

  /** Supplies pieces of 500 ms on request. */
  const feed = (player: Player.Player, wants: Array<string>, pieces: number) => {
    const given = new Map<string, number>()
    return () => {
      for (const id of wants.splice(0)) {
        const n = given.get(id) ?? 0
        given.set(id, n + 1)
        player.supply(Ids.work(id), sound(4000, 1 + ((n % pieces) * 4000) / 4), n % pieces === pieces - 1)
      }
    }
  }

  it("hears a sound of many pieces without a seam, over and over again", () => {
    const { events, player, render, wants } = setup()
    const supply = feed(player, wants, 3)
    player.play(Ids.work("p"), url, { loop: 2 })
    const heard: Array<number> = []
    for (let frame = 0; frame < 151; frame++) {
      supply()
      heard.push(...render(1))
    }
    const once = [0, 1, 2].flatMap((n) => [...samples(4000, 1 + n * 1000)])
    expect(heard.slice(0, 24_000)).toEqual(faded(Int16Array.from([...once, ...once])))
    expect(events).toStrictEqual(["p completed"])
    expect(player.gaps()).toBe(0)
  })

  it("asks for little ahead of what is heard, and for nothing of what waits behind", () => {
    const { player, render, wants } = setup()
    for (let n = 0; n < 20; n++) player.play(Ids.work(`p${n}`), url)
    expect(wants).toEqual(["p0", "p1"])
    const supply = feed(player, wants, 1000)
    let asked = 0
    for (let frame = 0; frame < 500; frame++) {
      asked += wants.length
      supply()
      render(1)
    }
    // 10 s were played, 2 s are loaded, and the next playback has a piece.
    expect(asked).toBeLessThanOrEqual((10_000 + 2500) / 500 + 1)
    expect(wants.filter((id) => id !== "p0")).toEqual([])
  })

  it("asks for short sounds one behind the other, up to ten seconds ahead", () => {
    const { player, render, wants } = setup()
    const asked = new Set<string>()
    for (let n = 0; n < 20; n++) player.play(Ids.work(`p${n}`), url, { loop: 2 })
    const supply = feed(player, wants, 1)
    for (let frame = 0; frame < 5; frame++) {
      for (const id of wants) asked.add(id)
      supply()
      render(1)
    }
    // Each is heard for a second.
    expect(asked.size).toBe(10)
  })

  it("stops a sound by its digits only, within the frame behind, and leaves the others", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("plain"), url)
    player.play(Ids.work("prompt"), url, { stoppedBy: "12#" })
    player.supply(Ids.work("plain"), sound(320), true)
    player.supply(Ids.work("prompt"), sound(8000), true)
    render(4)
    player.digit("3")
    expect(events).toStrictEqual(["plain completed"])
    player.digit("2")
    expect(events).toStrictEqual(["plain completed", "prompt stopped"])
    const behind = render(2)
    expect(behind.slice(40).every((sample) => sample === 0)).toBe(true)
    player.digit("2")
    expect(events.length).toBe(2)
  })

  it("ends one playback wherever it stands", () => {
    const { events, player, render } = setup()
    for (const id of ["a", "b", "c"].map(Ids.work)) player.play(id, url)
    player.supply(Ids.work("a"), sound(800), true)
    player.supply(Ids.work("b"), sound(800, 1000), true)
    render(1)
    player.stopOne(Ids.work("b"))
    player.stopOne(Ids.work("b"))
    player.stopOne(Ids.work("a"))
    player.supply(Ids.work("c"), sound(160, 2000), true)
    expect(render(3).slice(160, 320)).toEqual(faded(samples(160, 2000)))
    expect(events).toStrictEqual(["b stopped", "a stopped", "c completed"])
  })

  it("breaks off without a step where the next piece is late at the very end of a frame", () => {
    const { player, render } = setup()
    player.play(Ids.work("p"), url)
    player.supply(Ids.work("p"), { rate: 8000, samples: new Int16Array(320).fill(8000) }, false)
    const heard = render(3)
    const steps = heard.slice(40).map((sample, i) => Math.abs(sample - (heard[39 + i] ?? 0)))
    expect(Math.max(...steps)).toBeLessThan(400)
    expect(heard.slice(360).every((sample) => sample === 0)).toBe(true)
  })

  it("fades out where the next piece is late, and in where it goes on", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("p"), url)
    player.supply(Ids.work("p"), sound(200), false)
    const before = render(4)
    expect(before.slice(0, 200)).toEqual(faded(samples(200)))
    expect(player.gaps()).toBe(1)
    expect(player.ready()).toBe(false)
    player.supply(Ids.work("p"), sound(200, 201), true)
    expect(render(3).slice(0, 200)).toEqual(faded(samples(200, 201)))
    expect(events).toStrictEqual(["p completed"])
  })

  it("ends a sound that fails in its middle, and goes on with the next", () => {
    const { events, player, render } = setup()
    player.play(Ids.work("bad"), url)
    player.play(Ids.work("good"), url)
    player.supply(Ids.work("bad"), sound(400), false)
    player.supply(Ids.work("good"), sound(160), true)
    render(1)
    player.fail(Ids.work("bad"), "decode_limit")
    render(3)
    expect(events).toStrictEqual(["bad failed decode_limit", "good completed"])
  })
})
