import { describe, expect, it } from "@effect/vitest"
import type { WorkId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import * as Mix from "../../../src/media/mix/Mix.ts"
import type { Source } from "../../../src/media/mix/Source.ts"
import * as HoldMusic from "../../../src/media/room/HoldMusic.ts"

/** A leg whose mix shows its sources. */
const bench = () => {
  const mix = Mix.make()
  const sources = new Set<Source>()
  const wanted: Array<WorkId> = []
  const unwanted: Array<WorkId> = []
  const music = HoldMusic.make({
    name: "room",
    want: (id) => wanted.push(id),
    unwant: (id) => unwanted.push(id),
    failed: (id, reason) => failed.push([id, reason])
  })
  const failed: Array<readonly [WorkId, string | null]> = []
  const leg = {
    far: { rate: () => 8000 as const },
    mix: {
      add: (...[source, ...more]: Parameters<Mix.Mix["add"]>) => {
        const { close } = source
        sources.add(source)
        const closed = (): void => {
          sources.delete(source)
          close()
        }
        mix.add(Object.assign(source, { close: closed }), ...more)
      },
      remove: mix.remove
    }
  }
  return { failed, leg, music, mix, sources, unwanted, wanted }
}

describe("The music of a leg on hold", () => {
  it("that cannot be played is reported once, and noise is heard in its place until the end of the hold", () => {
    const { failed, leg, mix, music, sources, wanted } = bench()
    music.start(leg, "https://example.com/nothing.mp3", Ids.work("hold"))
    mix.next(8000, 0)
    music.fail(wanted[0] ?? Ids.work(""), "http_404")
    const heard = Array.from({ length: 10 }, (_, round) => [...mix.next(8000, 20 + round * 20).samples]).flat()
    expect(failed).toStrictEqual([["hold", "http_404"]])
    expect(heard.slice(400).some((sample) => sample !== 0)).toBe(true)
    expect(Math.max(...heard.map(Math.abs))).toBeLessThan(100)
    music.end(leg)
    mix.next(8000, 400)
    expect([...mix.next(8000, 420).samples].every((sample) => sample === 0)).toBe(true)
    expect(sources.size).toBe(0)
  })

  it("that cannot be had leaves one noise on the leg, however often it is asked for", () => {
    const { leg, mix, music, sources, unwanted, wanted } = bench()
    for (let now = 0; now < 100; now++) {
      music.start(leg, "https://example.com/nothing.mp3")
      const id = wanted.at(-1)
      if (id !== undefined) music.fail(id, "http_404")
      mix.next(8000, now * 20)
    }
    expect(sources.size).toBe(1)
    expect(unwanted).toStrictEqual(wanted)
  })

  it("is in the place of the one before, and gone behind the hold", () => {
    const { leg, mix, music, sources } = bench()
    for (let now = 0; now < 100; now++) {
      music.start(leg, "https://example.com/music.mp3")
      mix.next(8000, now * 20)
    }
    expect(sources.size).toBe(1)
    music.end(leg)
    mix.next(8000, 2_000)
    expect(sources.size).toBe(0)
  })
})
