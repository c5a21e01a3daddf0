import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import { AudioDecoder, type AudioFile } from "../../../src/media/sound/AudioDecoder.ts"
import * as Policies from "../../../src/domain/fair/Policies.ts"
import { AudioSource, limits } from "../../../src/media/sound/AudioSource.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeEgress from "../support/FakeEgress.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"

const wav = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 100, 8000) })
const ok = { body: wav }

/** The samples of a whole sound. */
const read = (url: string, rate: SampleRate = 8000, tenant = "t") =>
  Effect.gen(function* () {
    const reader = yield* (yield* AudioSource).open(Ids.tenant(tenant), { type: "url", url }, rate)
    let length = 0
    for (let isOver = false; !isOver;) {
      const { isLast, samples } = yield* reader.next
      length += samples.length
      isOver = isLast
    }
    return { rate: reader.rate, length }
  }).pipe(Effect.scoped)

const withSource = <A, E>(
  egress: ReturnType<typeof FakeEgress.make>,
  use: (load: (url: string, tenant?: string) => Effect.Effect<string>) => Effect.Effect<A, E>
) =>
  Effect.flatMap(AudioSource, (source) =>
    use((url, tenant) =>
      Effect.match(Effect.provideService(read(url, 8000, tenant), AudioSource, source), {
        onSuccess: ({ length }) => `${length} samples`,
        onFailure: ({ reason }) => reason
      })
    )
  ).pipe(
    Effect.provide(AudioSource.layer.pipe(Layer.provide([egress.layer, AudioDecoder.layerInline, FakeSpeech.layer])))
  )

/** Decoding is a promise, which takes no time of the test clock but turns of the event loop. */
const elapse = (ms: number) =>
  Effect.gen(function* () {
    yield* TestClock.adjust(ms)
    for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
  })

/** Runs effects together while the clock advances. */
const together = <A>(effects: ReadonlyArray<Effect.Effect<A>>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.all(effects, { concurrency: "unbounded" }))
    yield* elapse(30_000)
    return yield* Fiber.join(fiber)
  })

describe("Audio sources", () => {
  it.effect.each([
    { url: "https://a/ok.wav", outcome: "800 samples" },
    { url: "https://a/missing", outcome: "http_404" },
    { url: "https://a/gone", outcome: "http_410" },
    { url: "https://a/moved", outcome: "http_302" },
    { url: "https://a/html", outcome: "unsupported_format" },
    { url: "https://a/nothing", outcome: "empty" },
    { url: "https://a/huge", outcome: "too_large" },
    { url: "https://a/private", outcome: "fetch_failed" },
    { url: "https://a/slow", outcome: "fetch_failed" }
  ])("$url gives $outcome", ({ outcome, url }) => {
    const egress = FakeEgress.make({
      "https://a/ok.wav": ok,
      "https://a/gone": { status: 410 },
      "https://a/moved": { status: 302 },
      "https://a/html": { body: new TextEncoder().encode("<html>") },
      "https://a/nothing": {},
      "https://a/huge": "too_large",
      "https://a/private": "blocked",
      "https://a/slow": "timeout"
    })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        expect(yield* together([load(url)])).toStrictEqual([outcome])
        expect(egress.requests[0]).toMatchObject({
          method: "GET",
          maxRedirects: 3,
          timeoutMs: 10_000,
          maxResponseBytes: limits.maxBytes
        })
      })
    )
  })

  it.effect("is fetched once by all who ask meanwhile, and kept for a minute", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const url = "https://a/ok.wav"
        expect(yield* together(Array.from({ length: 50 }, () => load(url)))).toStrictEqual(
          Array.from({ length: 50 }, () => "800 samples")
        )
        yield* together([load(url)])
        expect(egress.requests.length).toBe(1)
        yield* TestClock.adjust("60 seconds")
        yield* together([load(url)])
        expect(egress.requests.length).toBe(2)
      })
    )
  })

  it.effect("is kept for each rate that was asked for: 8 kHz for narrow legs, 16 kHz for all others", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    return Effect.gen(function* () {
      const source = yield* AudioSource
      const reads = ([8000, 16_000, 48_000, 8000, 24_000] as const).map((rate) => read("https://a/ok.wav", rate))
      const sounds = yield* together(
        reads.map((each) => Effect.orDie(Effect.provideService(each, AudioSource, source)))
      )
      expect(sounds.map(({ length, rate }) => [rate, length])).toEqual([
        [8000, 800],
        [16_000, 1600],
        [16_000, 1600],
        [8000, 800],
        [16_000, 1600]
      ])
      expect(egress.requests.length).toBe(1)
    }).pipe(
      Effect.provide(AudioSource.layer.pipe(Layer.provide([egress.layer, AudioDecoder.layerInline, FakeSpeech.layer])))
    )
  })

  it.effect("is fetched to the end for the others when the first who asked is interrupted", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const first = yield* Effect.forkChild(load("https://a/ok.wav"))
        yield* elapse(50)
        const second = yield* Effect.forkChild(load("https://a/ok.wav"))
        yield* elapse(10)
        yield* Fiber.interrupt(first)
        yield* elapse(1000)
        expect(yield* Fiber.join(second)).toBe("800 samples")
        expect(egress.requests.length).toBe(1)
      })
    )
  })

  it.effect("is not fetched for those who have gone while it waited for a place", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const before = Array.from({ length: Policies.fetches.each }, (_, i) => load(`https://a/${i}`))
        yield* Effect.forkChild(Effect.all(before, { concurrency: "unbounded" }))
        yield* elapse(10)
        const gone = yield* Effect.forkChild(load("https://a/ok.wav"))
        yield* elapse(10)
        yield* Fiber.interrupt(gone)
        yield* elapse(1000)
        expect(egress.requests.map(({ url }) => url)).not.toContain("https://a/ok.wav")
        expect(yield* together([load("https://a/ok.wav")])).toEqual(["800 samples"])
      })
    )
  })

  it.effect("keeps no failure", () => {
    const egress = FakeEgress.make({})
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        yield* together([load("https://a/x")])
        yield* together([load("https://a/x")])
        expect(egress.requests.length).toBe(2)
      })
    )
  })

  it.effect("fetches the one sound of a tenant while another waits for a hundred", () => {
    const egress = FakeEgress.make({ "https://b/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const loud = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 100 }, (_, i) => load(`https://a/${i}`, "loud")),
            { concurrency: "unbounded" }
          )
        )
        yield* elapse(10)
        const quiet = yield* Effect.forkChild(load("https://b/ok.wav", "quiet"))
        yield* elapse(110)
        expect(yield* Fiber.join(quiet)).toBe("800 samples")
        yield* elapse(30_000)
        expect((yield* Fiber.join(loud)).every((outcome) => outcome === "http_404")).toBe(true)
      })
    )
  })

  it.effect("fetches a sound that another has in line too, without waiting for the other's turn", () => {
    const egress = FakeEgress.make({ "https://b/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const loud = [...Array.from({ length: 100 }, (_, i) => `https://a/${i}`), "https://b/ok.wav"]
        const all = yield* Effect.forkChild(
          Effect.all(
            loud.map((url) => load(url, "loud")),
            { concurrency: "unbounded" }
          )
        )
        yield* elapse(10)
        const quiet = yield* Effect.forkChild(load("https://b/ok.wav", "quiet"))
        yield* elapse(110)
        expect(yield* Fiber.join(quiet)).toBe("800 samples")
        expect(egress.requests.length).toBeLessThan(loud.length)
        yield* elapse(30_000)
        yield* Fiber.join(all)
      })
    )
  })

  it.effect("refuses what a tenant would have in line beyond half of what the others leave", () => {
    const egress = FakeEgress.make({ "https://b/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const loud = Array.from({ length: Policies.flights.capacity }, (_, i) => load(`https://a/${i}`, "loud"))
        const all = yield* Effect.forkChild(Effect.all(loud, { concurrency: "unbounded" }))
        yield* elapse(10)
        const quiet = yield* Effect.forkChild(load("https://b/ok.wav", "quiet"))
        yield* elapse(30_000)
        expect(yield* Fiber.join(quiet)).toBe("800 samples")
        const refused = (yield* Fiber.join(all)).filter((outcome) => outcome === "overloaded")
        expect(refused.length).toBe(Policies.flights.capacity / 2 - 1)
      })
    )
  })

  it.effect("decodes a sound once for all who play it", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    let opened = 0
    const counting = Layer.effect(
      AudioDecoder,
      Effect.map(AudioDecoder, ({ open }) => ({
        open: (file: AudioFile, rate: SampleRate) => {
          opened++
          return open(file, rate)
        }
      }))
    ).pipe(Layer.provide(AudioDecoder.layerInline))
    return Effect.all(
      Array.from({ length: 27 }, () => read("https://a/ok.wav")),
      { concurrency: "unbounded" }
    ).pipe(
      Effect.forkChild,
      Effect.tap(() => elapse(30_000)),
      Effect.flatMap(Fiber.join),
      Effect.map(() => expect(opened).toBe(1)),
      Effect.provide(AudioSource.layer.pipe(Layer.provide([egress.layer, counting, FakeSpeech.layer])))
    )
  })

  it.effect("fetches no more for a tenant than its concurrency at once", () => {
    const egress = FakeEgress.make({})
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 40 }, (_, i) => load(`https://a/${i}`)),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust("50 millis")
        expect(egress.requests.length).toBe(Policies.fetches.each)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(fiber)
        expect(egress.requests.length).toBe(40)
      })
    )
  })
})
