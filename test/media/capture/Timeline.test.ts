import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Timeline from "../../../src/media/capture/Timeline.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Click from "../mix/Click.ts"

const setup = (tracks = 1, chunkMs = 100, mostRate: SampleRate = 16_000) => {
  const chunks: Array<Timeline.Chunk> = []
  const timeline = Timeline.make({ tracks, chunkMs, mostRate, emit: (chunk) => void chunks.push(chunk) })
  const whole = (track: number) => Int16Array.from(chunks.flatMap(({ tracks }) => [...(tracks[track] ?? [])]))
  return { ...timeline, chunks, whole }
}
/** A speaker of one tone, frame by frame. */
const speaker = (frequency: number, rate: SampleRate = 8000, dbfs = -12) => {
  const { render } = Tone.oscillator([{ frequency, dbfs }], rate)
  return () => {
    const samples = new Int16Array(rate / 50)
    render(samples)
    return { rate, samples }
  }
}
const numbered = (value: number) => ({ rate: 8000 as const, samples: new Int16Array(160).fill(value) })

describe("A timeline", () => {
  it("hands out every sample of a track, in order, in chunks that tell when they began", () => {
    const { chunks, end, hear, whole } = setup()
    for (let i = 0; i < 12; i++) hear(0, numbered(i + 1), 1000 + i * 20)
    end()
    expect(chunks.map(({ at, tracks }) => [at, tracks[0]?.length])).toStrictEqual([
      [1000, 800],
      [1100, 800],
      [1200, 320]
    ])
    expect([...whole(0)].filter((_, i) => i % 160 === 0)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  it.prop(
    "keeps the tracks equally long and each frame within a frame of its time, whoever is absent or read in another slot",
    {
      gaps: Schema.Array(
        Schema.Struct({ phase: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 19 })), has: Schema.Boolean })
      ).check(Schema.isMinLength(5), Schema.isMaxLength(60))
    },
    ({ gaps }) => {
      const { chunks, end, hear, whole } = setup(2)
      gaps.forEach(({ has, phase }, i) => {
        hear(0, numbered(i + 1), i * 20)
        if (has) hear(1, numbered(i + 1), i * 20 + phase)
      })
      end()
      for (const { tracks } of chunks) expect(tracks[0]?.length).toBe(tracks[1]?.length)
      const [left, right] = [whole(0), whole(1)]
      expect(left.length).toBeGreaterThanOrEqual(gaps.length * 160)
      expect(left.length).toBeLessThanOrEqual((gaps.length + 1) * 160)
      gaps.forEach((_, i) => {
        expect(left[i * 160 + 80]).toBe(i + 1)
        const other = right[i * 160 + 80] ?? 0
        if (other !== 0) expect(Math.abs(other - (i + 1))).toBeLessThanOrEqual(2)
      })
    }
  )

  it("waits no longer than three frames for a track that is not there", () => {
    const { chunks, hear } = setup(2)
    for (let i = 0; i < 10; i++) hear(0, numbered(1), i * 20)
    expect(chunks.map(({ tracks }) => tracks.map((track) => track.length))).toStrictEqual([[800, 800]])
  })

  it("drops frames that the clock does not know", () => {
    const { end, hear, whole } = setup()
    for (let i = 0; i < 10; i++) hear(0, numbered(i + 1), i === 0 ? 0 : 20)
    end()
    expect([...whole(0)].filter((_, i) => i % 160 === 0)).toStrictEqual([1, 2, 3])
  })

  it("is silent where the plane stood still, without a click at either side", () => {
    const { end, hear, whole } = setup()
    const say = speaker(440)
    for (let i = 0; i < 10; i++) hear(0, say(), i * 20)
    for (let i = 25; i < 35; i++) hear(0, say(), i * 20)
    end()
    const sound = whole(0)
    expect(sound.length).toBe(35 * 160)
    expect(Goertzel.totalLevel(sound.slice(11 * 160, 24 * 160))).toBeLessThan(-90)
    expect(Goertzel.level(sound.slice(26 * 160, 34 * 160), 440, 8000)).closeTo(-12, 0.3)
    expect(Click.largest(sound)).toBeLessThan(700)
  })

  it("keeps not a sample of what is said while it is silenced, fades both ends, and goes on in time", () => {
    const { end, hear, silenced, whole } = setup()
    const say = speaker(440)
    for (let i = 0; i < 30; i++) {
      if (i === 10) silenced(true)
      if (i === 20) silenced(false)
      hear(0, i >= 10 && i < 20 ? numbered(30_000) : say(), i * 20)
    }
    end()
    const sound = whole(0)
    expect(sound.length).toBe(30 * 160)
    expect(sound.slice(10 * 160, 20 * 160).every((sample) => sample === 0)).toBe(true)
    expect(Goertzel.level(sound.slice(21 * 160, 29 * 160), 440, 8000)).closeTo(-12, 0.3)
    expect(Click.largest(sound)).toBeLessThan(700)
  })

  it("keeps the rate of its first frame when the leg changes to another, and the pitch with it", () => {
    const { chunks, end, hear, whole } = setup()
    const [narrow, wide] = [speaker(440), speaker(440, 16_000)]
    for (let i = 0; i < 50; i++) hear(0, i < 25 ? wide() : narrow(), i * 20)
    end()
    expect(new Set(chunks.map(({ rate }) => rate))).toStrictEqual(new Set([16_000]))
    expect(whole(0).length).toBe(50 * 320)
    expect(Goertzel.level(whole(0).slice(30 * 320, 49 * 320), 440, 16_000)).closeTo(-12, 0.3)
  })

  it.each([
    [8000, 16_000],
    [16_000, 8000],
    [16_000, 48_000]
  ] as const)("has no step where the leg changes in the middle of a sound, from %i to %i Hz", (from, to) => {
    for (const hz of [440, 610, 1130]) {
      const { end, hear, whole } = setup()
      const [one, other] = [speaker(hz, from), speaker(hz, to)]
      for (let i = 0; i < 15; i++) hear(0, one(), i * 20)
      for (let i = 15; i < 40; i++) hear(0, other(), i * 20)
      for (let i = 40; i < 60; i++) hear(0, one(), i * 20)
      end()
      const sound = whole(0)
      const steady = Click.largest(sound.slice(from / 10, from / 5))
      // A sixth of it would be the height of a step: -45 dBFS.
      expect(Click.largest(sound.slice(from / 50))).toBeLessThan(Math.max(2.5 * steady, 6 * 184))
    }
  })

  it("brings a rate above the one that is wanted at most down to it", () => {
    const { chunks, end, hear } = setup(1, 100, 16_000)
    const say = speaker(440, 48_000)
    for (let i = 0; i < 20; i++) hear(0, say(), i * 20)
    end()
    expect(chunks[0]?.rate).toBe(16_000)
    expect(chunks[0]?.tracks[0]?.length).toBe(1600)
  })

  it("goes on behind a standstill of more than ten seconds instead of filling it", () => {
    const { chunks, end, hear } = setup()
    hear(0, numbered(1), 0)
    hear(0, numbered(2), 3_600_000)
    end()
    expect(chunks.reduce((sum, { tracks }) => sum + (tracks[0]?.length ?? 0), 0)).toBe(320)
  })
})
