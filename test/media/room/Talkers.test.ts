import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Talkers from "../../../src/media/room/Talkers.ts"
import { random } from "../../protocol/rtp/RandomBytes.ts"

const chosen = (talkers: ReadonlyArray<Talkers.Talker>) => talkers.flatMap(({ isChosen }, i) => (isChosen ? [i] : []))
/** Runs frames in which each talker has this level, with its gate open or not. */
const frames = (
  talkers: ReadonlyArray<Talkers.Talker>,
  count: number,
  says: (i: number) => readonly [level: number, isOpen: boolean]
) => {
  for (let frame = 0; frame < count; frame++) {
    talkers.forEach((talker, i) => Talkers.heard(talker, ...says(i)))
    Talkers.choose(talkers, talkers.length)
  }
}
const make = (count: number) => Array.from({ length: count }, Talkers.talker)

describe("Who is heard in a room", () => {
  it("is everybody, up to six, and five of more, of whom the quietest gives way", () => {
    const talkers = make(6)
    frames(talkers, 1, () => [0, false])
    expect(chosen(talkers)).toEqual([0, 1, 2, 3, 4, 5])
    const more = [...talkers, Talkers.talker()]
    frames(more, 10, (i) => [100 + i, true])
    expect(chosen(more).length).toBe(5)
    expect(chosen(more)).not.toContain(0)
  })

  it("is whoever begins to speak, at once where one of the five was silent for 100 ms", () => {
    const talkers = make(10)
    frames(talkers, 10, (i) => [500, i < 5])
    expect(chosen(talkers)).toEqual([0, 1, 2, 3, 4])
    frames(talkers, 6, (i) => [i === 3 ? 10 : 500, i < 5 && i !== 3])
    frames(talkers, 1, (i) => [i === 3 ? 10 : 500, (i < 5 && i !== 3) || i === 8])
    expect(chosen(talkers)).toEqual([0, 1, 2, 4, 8])
  })

  it("is whoever is louder by 6 dB than one of five who speak, after three frames", () => {
    const talkers = make(10)
    const says = (loud: number) => (i: number) => [i === 8 ? loud : 500 + i, i < 5 || i === 8] as const
    frames(talkers, 10, (i) => [500 + i, i < 5])
    frames(talkers, 50, says(900))
    expect(chosen(talkers)).toEqual([0, 1, 2, 3, 4])
    frames(talkers, 2, says(2000))
    expect(chosen(talkers)).toEqual([0, 1, 2, 3, 4])
    frames(talkers, 1, says(2000))
    expect(chosen(talkers)).toEqual([1, 2, 3, 4, 8])
  })

  it.prop(
    "stays as it is while nobody speaks, and never more than five of a large room",
    [Schema.Array(Schema.Tuple([Schema.Int, Schema.Int])), Schema.Int],
    ([script, seed]) => {
      const noise = random(Math.abs(seed) + 1)
      const talkers = make(12)
      for (const [who, level] of script) {
        frames(talkers, 3, (i) => [Math.abs(level) % 3000, i === Math.abs(who) % 12 || noise() < 0.3])
        expect(chosen(talkers).length).toBeLessThanOrEqual(5)
        const before = chosen(talkers)
        frames(talkers, 20, () => [noise() * 3000, false])
        expect(chosen(talkers)).toEqual(before)
      }
    }
  )

  it.each([10, 50, 250])("loses at most one frame in a hundred of what up to three of %i say at a time", (count) => {
    const noise = random(count)
    const talkers = make(count)
    /** The remaining frames of up to three that speak. */
    let speaking: Array<{ readonly who: number; readonly gain: number; left: number }> = []
    let [said, lost, swaps] = [0, 0, 0]
    let before = new Set<number>()
    for (let frame = 0; frame < 15_000; frame++) {
      speaking = speaking.filter(({ left }) => left > 0)
      if (speaking.length < 3 && noise() < 0.02) {
        const who = Math.floor(noise() * count)
        if (!speaking.some((each) => each.who === who))
          speaking.push({ who, gain: 10 ** ((6 - 12 * noise()) / 20), left: 50 + Math.floor(noise() * 200) })
      }
      /** Speech has syllables, and pauses between words; coughs of the others open a gate now and then. */
      const levels = new Float64Array(count).map(() => (noise() < 0.02 / count ? 300 : 15))
      for (const each of speaking) {
        each.left--
        const phase = each.left % 12
        levels[each.who] = phase < 9 ? 900 * each.gain * (0.4 + 0.6 * noise()) : 20
      }
      talkers.forEach((talker, i) => Talkers.heard(talker, Math.round(levels[i] ?? 0), (levels[i] ?? 0) > 60))
      Talkers.choose(talkers, count)
      for (const { who } of speaking)
        if ((levels[who] ?? 0) > 60) {
          said++
          if (talkers[who]?.isChosen !== true) lost++
        }
      const now = new Set(chosen(talkers))
      swaps += [...now].filter((who) => !before.has(who)).length
      before = now
    }
    expect(lost / said).toBeLessThan(0.01)
    expect(swaps / 5).toBeLessThan(150)
  })
})
