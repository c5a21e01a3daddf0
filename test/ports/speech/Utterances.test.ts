import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Utterances from "../../../src/ports/speech/Utterances.ts"

const rate = 8000
const frame = 160
const ms = (samples: number) => (samples * 1000) / rate

/** A sample of speech is positive, and encodes its position in the sound. Speech comes in whole frames. */
const soundOf = (spans: ReadonlyArray<number>): Int16Array => {
  const sound = new Int16Array(spans.reduce((sum, frames) => sum + frames, 0) * frame)
  let at = 0
  spans.forEach((frames, i) => {
    if (i % 2 === 1) for (let each = at; each < at + frames * frame; each++) sound[each] = 1 + (each % 30_000)
    at += frames * frame
  })
  return sound
}

const hears = (samples: Int16Array) => samples.some((sample) => sample !== 0)

const cut = (sound: Int16Array, pieces: ReadonlyArray<number>) => {
  const utterances = Utterances.make(rate, hears)
  const over: Array<Utterances.Utterance> = []
  for (let at = 0, i = 0; at < sound.length; i++) {
    const length = pieces[i % pieces.length] ?? frame
    over.push(...utterances.hear(sound.slice(at, at + length)))
    at += length
  }
  const last = utterances.end()
  return last === null ? over : [...over, last]
}

const frames = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 900 }))

describe("Utterances", () => {
  it.prop(
    "hold all that is said, once, in its place, and never more than 15 s, however the sound comes",
    {
      spans: Schema.Array(frames).check(Schema.isMinLength(1), Schema.isMaxLength(6)),
      pieces: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(4)
      )
    },
    ({ pieces, spans }) => {
      const sound = soundOf(spans)
      const all = cut(sound, pieces)
      let until = 0
      for (const { samples, startMs } of all) {
        const start = (startMs * rate) / 1000
        expect(start).toBeGreaterThanOrEqual(until)
        expect(samples).toStrictEqual(sound.slice(start, start + samples.length))
        expect(ms(samples.length)).toBeLessThanOrEqual(Utterances.mostMs)
        expect(hears(sound.slice(until, start))).toBe(false)
        until = start + samples.length
      }
      expect(hears(sound.slice(until))).toBe(false)
      expect(cut(sound, [frame])).toStrictEqual(all)
    }
  )

  it("begin with the sound before the first voice, and not with all of the silence", () => {
    const [only, ...more] = cut(soundOf([200, 50, 10]), [frame])
    expect(more).toEqual([])
    expect(only?.startMs).toBe(200 * 20 - Utterances.leadMs)
  })
})
