import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Click from "../../mix/Click.ts"
import * as Playout from "../../../../src/media/stream/playout/Playout.ts"
import * as SoundQueue from "../../../../src/media/stream/playout/SoundQueue.ts"

/** A decoder with samples of one octet, so that a test can count them; never silent. */
const decoder: SoundQueue.SoundDecoder = {
  unit: { octets: 1, samples: 1 },
  samplesIn: () => 0,
  decode: (bytes, out) => {
    bytes.forEach((octet, i) => (out[i] = octet === 0 ? 0 : octet * 100))
    return bytes.length
  },
  reset: () => undefined
}

const linear: SoundQueue.SoundDecoder = {
  unit: { octets: 2, samples: 1 },
  samplesIn: () => 0,
  decode: (bytes, out) => {
    new Int16Array(bytes.slice().buffer).forEach((sample, i) => (out[i] = sample))
    return bytes.length / 2
  },
  reset: () => undefined
}

const speech = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => 20 + ((i * 7919) % 211))

/** A playout with a tick every 20 ms; `heard` is all played sound, silence included. */
const make = (startedAt = 0) => {
  const playout = Playout.make(SoundQueue.make(decoder), 8000, startedAt)
  const heard: Array<number> = []
  const marks: Array<{ readonly name: string; readonly isCleared: boolean; readonly at: number }> = []
  return {
    playout,
    heard,
    marks,
    mark: (name: string, at: number) => marks.push(...playout.mark(name).map((mark) => ({ ...mark, at }))),
    clear: (at: number) => marks.push(...playout.clear().map((mark) => ({ ...mark, at }))),
    tick: (now: number) => {
      const { frame, marks: due } = playout.next(now)
      marks.push(...due.map((mark) => ({ ...mark, at: now })))
      heard.push(...(frame?.samples ?? new Int16Array(160)))
      return frame !== null
    }
  }
}

/** Compares played sound with `sent`, without the silence and the 4 ms of the fade-out. */
const contains = (heard: ReadonlyArray<number>, sent: Uint8Array): boolean => {
  let at = 0
  for (const sample of heard) if (at < sent.length && sample === (sent[at] ?? 0) * 100) at++
  return at === sent.length
}

const Sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2000 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(30)
)

describe("The playout of a stream, guide/streams.md#what-is-heard-when", () => {
  it("tells with the next mark of sound that found no room, whether something waits or not, and only with that", () => {
    let hasCapacity = false
    const playout = Playout.make(SoundQueue.make(decoder), 8000, 0, () => hasCapacity)
    expect(playout.push(speech(160), 0)).toBe(false)
    expect([...playout.mark("alone"), ...playout.mark("beside")]).toEqual([
      { name: "alone", isCleared: true },
      { name: "beside", isCleared: true }
    ])
    hasCapacity = true
    playout.push(speech(160), 0)
    playout.mark("heard")
    hasCapacity = false
    playout.push(speech(160), 0)
    hasCapacity = true
    playout.push(speech(160), 0)
    playout.mark("in the middle")
    playout.push(speech(160), 0)
    playout.lost()
    playout.mark("at the end")
    const marks = [20, 40, 60, 80].flatMap((now) => playout.next(now).marks)
    expect(marks.map(({ isCleared, name }) => [name, isCleared])).toEqual([
      ["heard", false],
      ["in the middle", true],
      ["at the end", true]
    ])
  })

  it.prop("hears everything in order, whatever the sizes, and returns each mark once, in order", [Sizes], ([sizes]) => {
    const bench = make()
    const sent: Array<number> = []
    let now = 0
    sizes.forEach((size, index) => {
      const piece = speech(size)
      sent.push(...piece)
      expect(bench.playout.push(piece, now)).toBe(true)
      bench.mark(String(index), now)
      if (index % 3 === 0) {
        now += 20
        bench.tick(now)
      }
    })
    for (let i = 0; i < 500; i++) bench.tick((now += 20))
    expect(contains(bench.heard, Uint8Array.from(sent))).toBe(true)
    expect(bench.marks.map(({ isCleared, name }) => [name, isCleared])).toEqual(sizes.map((_, i) => [String(i), false]))
    expect(bench.playout.waitingMs()).toBe(0)
  })

  it("is exact to the sample when a second comes at once", () => {
    const bench = make()
    const sent = speech(8000)
    bench.playout.push(sent, 3)
    bench.tick(20)
    for (let at = 40; at <= 1000; at += 20) bench.tick(at)
    expect(bench.heard).toEqual([...sent].map((octet) => octet * 100))
  })

  it.prop(
    "after clear nothing is heard of what was sent before",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20_000 })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
    ],
    ([length, ticks]) => {
      const bench = make()
      bench.playout.push(
        Uint8Array.from({ length }, () => 200),
        0
      )
      bench.mark("old", 0)
      for (let i = 1; i <= ticks; i++) bench.tick(i * 20)
      bench.clear(ticks * 20)
      bench.heard.splice(0)
      const fresh = Uint8Array.from({ length: 1600 }, () => 50)
      bench.playout.push(fresh, ticks * 20)
      for (let i = ticks + 1; i <= ticks + 30; i++) bench.tick(i * 20)
      expect(bench.heard.includes(20_000)).toBe(false)
      // Sound that begins at once is faded in over 5 ms.
      expect(bench.heard.filter((sample) => sample === 5000).length).toBeGreaterThanOrEqual(1560)
      expect(bench.marks.filter(({ name }) => name === "old").length).toBe(1)
    }
  )

  it.each([
    ["at its loudest", 442.5],
    ["at its steepest", 400]
  ])("has no step where something else begins at once behind a clear, %s", (_, hz) => {
    const queue = SoundQueue.make(linear)
    const playout = Playout.make(queue, 16_000, 0)
    const say = (hz: number, from: number) =>
      playout.push(new Uint8Array(Tone.sine(hz, -12, 500, 16_000).slice(from).buffer), 0)
    const heard: Array<number> = []
    const tick = (now: number) => heard.push(...(playout.next(now).frame?.samples ?? new Int16Array(320)))
    say(hz, 0)
    for (let now = 20; now <= 100; now += 20) tick(now)
    playout.clear()
    say(600, 20)
    for (let now = 120; now <= 200; now += 20) tick(now)
    const sound = Int16Array.from(heard)
    const steady = Click.largest(sound.subarray(0, 1500))
    expect(Math.max(...sound.subarray(1500, 1600))).toBeGreaterThan(3000)
    // A sixth of it would be the height of a step: -46 dBFS.
    expect(Click.largest(sound.subarray(1500, 1800))).toBeLessThan(Math.max(2 * steady, 6 * 160))
  })

  it("counts the marks behind a clear from there on", () => {
    const bench = make()
    bench.playout.push(speech(8000), 0)
    bench.tick(20)
    bench.clear(20)
    bench.playout.push(speech(1600), 20)
    bench.mark("fresh", 20)
    bench.playout.push(speech(1600), 20)
    for (let at = 40; at <= 600; at += 20) bench.tick(at)
    // The mark comes after 200 ms of sound, which begins at 40.
    expect(bench.marks).toEqual([{ name: "fresh", isCleared: false, at: 220 }])
  })

  for (const ppm of [-200, 200])
    it(`keeps up for ten minutes with a sender whose clock is ${ppm} ppm off, and hears all of its speech`, () => {
      const bench = make()
      let sentMs = 0
      let spoken = 0
      for (let now = 20; now <= 600_000; now += 20) {
        // The sound comes 40 ms at a time; every other two seconds are silence.
        while (sentMs <= now * (1 + ppm / 1e6)) {
          const isSpeech = Math.floor(sentMs / 2000) % 2 === 0
          if (isSpeech) spoken += 320
          bench.playout.push(new Uint8Array(320).fill(isSpeech ? 60 : 0), now)
          sentMs += 40
        }
        bench.tick(now)
      }
      expect(bench.playout.waitingMs()).toBeLessThan(400)
      const heard = bench.heard.filter((sample) => sample === 6000).length
      expect(spoken - heard).toBeLessThanOrEqual(1600)
      if (ppm < 0) expect(bench.playout.figures.trimmed).toBe(0)
    })

  it("trims quiet frames of a sender that keeps time and is ahead, one a second, and never a burst", () => {
    const bench = make()
    let now = 0
    for (; now < 31_000; now += 20) {
      bench.playout.push(new Uint8Array(160), now)
      bench.tick(now + 20)
    }
    bench.playout.push(new Uint8Array(2400), now)
    for (const end = now + 5000; now < end; now += 20) {
      bench.playout.push(new Uint8Array(160), now)
      bench.tick(now + 20)
    }
    expect(bench.playout.figures.trimmed / 160).toBeGreaterThanOrEqual(4)
    expect(bench.playout.figures.trimmed / 160).toBeLessThanOrEqual(6)
    const burst = make()
    burst.playout.push(new Uint8Array(80_000), 0)
    for (let at = 20; at <= 9000; at += 20) burst.tick(at)
    expect(burst.playout.figures.trimmed).toBe(0)
  })

  it("dies away within 4 ms where it ends, and repeats nothing", () => {
    const bench = make()
    bench.playout.push(new Uint8Array(500).fill(200), 0)
    bench.mark("end", 0)
    for (let at = 20; at <= 200; at += 20) bench.tick(at)
    const tail = bench.heard.slice(500)
    expect(tail.slice(32).every((sample) => sample === 0)).toBe(true)
    for (let i = 1; i < 32; i++) expect(tail[i] ?? 0).toBeLessThan(tail[i - 1] ?? 0)
    expect(tail[0]).toBeLessThan(20_000)
  })

  it("has 40 ms more depth after each break in speech, up to 200, and 60 again after 30 s of calm", () => {
    const bench = make()
    let now = 0
    const depths: Array<number> = []
    for (let i = 0; i < 6; i++) {
      bench.playout.push(speech(1600), now)
      for (let n = 0; n < 12; n++) bench.tick((now += 20))
      bench.playout.push(speech(1600), now)
      depths.push(bench.playout.depthMs())
      for (let n = 0; n < 40; n++) bench.tick((now += 20))
    }
    expect(depths).toEqual([100, 140, 180, 200, 200, 200])
    // A pause between two stretches of speech is not an underrun.
    expect(bench.playout.figures.underruns).toBe(6)
    for (let n = 0; n < 1500; n++) bench.tick((now += 20))
    expect(bench.playout.depthMs()).toBe(60)
  })

  it("returns the mark that finds no room at once, as cleared", () => {
    const bench = make()
    bench.playout.push(speech(8000), 0)
    for (let i = 0; i < Playout.limits.marks; i++) bench.mark("kept", 0)
    bench.mark("too many", 0)
    expect(bench.marks).toEqual([{ name: "too many", isCleared: true, at: 0 }])
  })
})
