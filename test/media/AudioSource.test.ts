import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Tone from "../../src/audio/Tone.ts"
import * as Wav from "../../src/audio/Wav.ts"
import { AudioDecoder } from "../../src/media/AudioDecoder.ts"
import { AudioSource, limits } from "../../src/media/AudioSource.ts"
import * as FakeEgress from "./FakeEgress.ts"

const wav = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 100, 8000) })
const ok = { body: wav }

const withSource = <A, E>(
  egress: ReturnType<typeof FakeEgress.make>,
  use: (load: (url: string) => Effect.Effect<string>) => Effect.Effect<A, E>
) =>
  Effect.flatMap(AudioSource, ({ load }) =>
    use((url) =>
      Effect.match(load(url, 8000), {
        onSuccess: ({ samples }) => `${samples.length} samples`,
        onFailure: ({ reason }) => reason
      })
    )
  ).pipe(Effect.provide(AudioSource.layer.pipe(Layer.provide([egress.layer, AudioDecoder.layerInline]))))

/** Runs effects together while the clock moves on. */
const together = <A>(effects: ReadonlyArray<Effect.Effect<A>>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.all(effects, { concurrency: "unbounded" }))
    yield* TestClock.adjust("30 seconds")
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
      const { load } = yield* AudioSource
      const loads = ([8000, 16_000, 48_000, 8000, 24_000] as const).map((rate) => load("https://a/ok.wav", rate))
      const sounds = yield* together(loads.map(Effect.orDie))
      expect(sounds.map(({ rate, samples }) => [rate, samples.length])).toEqual([
        [8000, 800],
        [16_000, 1600],
        [16_000, 1600],
        [8000, 800],
        [16_000, 1600]
      ])
      expect(egress.requests.length).toBe(2)
    }).pipe(Effect.provide(AudioSource.layer.pipe(Layer.provide([egress.layer, AudioDecoder.layerInline]))))
  })

  it.effect("is fetched to the end for the others when the first who asked is interrupted", () => {
    const egress = FakeEgress.make({ "https://a/ok.wav": ok })
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        const first = yield* Effect.forkChild(load("https://a/ok.wav"))
        yield* TestClock.adjust("50 millis")
        const second = yield* Effect.forkChild(load("https://a/ok.wav"))
        yield* TestClock.adjust("10 millis")
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(second)).toBe("800 samples")
        expect(egress.requests.length).toBe(1)
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

  it.effect("forgets the least recently used beyond its room", () => {
    const quarter = Wav.write({ sampleRate: 8000, samples: new Int16Array(limits.cacheBytes / 8) })
    const urls = ["a", "b", "c", "d", "e"].map((name) => `https://a/${name}`)
    const egress = FakeEgress.make(Object.fromEntries(urls.map((url) => [url, { body: quarter }])), 1)
    return withSource(egress, (load) =>
      Effect.gen(function* () {
        for (const url of [...urls.slice(0, 4), "https://a/a", "https://a/e", "https://a/a"]) {
          const fiber = yield* Effect.forkChild(load(url))
          yield* TestClock.adjust("10 millis")
          yield* Fiber.join(fiber)
        }
        expect(egress.requests.length).toBe(5)
        const again = yield* Effect.forkChild(load("https://a/b"))
        yield* TestClock.adjust("10 millis")
        yield* Fiber.join(again)
        expect(egress.requests.length).toBe(6)
      })
    )
  })

  it.effect("fetches no more than its concurrency at once", () => {
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
        expect(egress.requests.length).toBe(limits.concurrency)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(fiber)
        expect(egress.requests.length).toBe(40)
      })
    )
  })
})
