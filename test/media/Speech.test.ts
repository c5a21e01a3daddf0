import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Scope, Exit } from "effect"
import { TestClock } from "effect/testing"
import { AudioDecoder } from "../../src/media/sound/AudioDecoder.ts"
import { AudioSource } from "../../src/media/sound/AudioSource.ts"
import type { Speech } from "../../src/ports/media/PlaybackMessages.ts"
import * as Ids from "../support/Ids.ts"
import * as FakeSpeech from "../support/fake/FakeSpeech.ts"
import * as FakeEgress from "./support/FakeEgress.ts"

const speech = (text: string, fields: Partial<Speech> = {}): Speech => ({
  text,
  textType: "text",
  voice: "fake.anna",
  language: null,
  ...fields
})

const sourceOver = (fake: ReturnType<typeof FakeSpeech.make>) =>
  AudioSource.layer.pipe(Layer.provide([FakeEgress.make({}).layer, AudioDecoder.layerInline, fake.layer]))

const open = (text: string, tenant = "t") =>
  Effect.flatMap(AudioSource, (source) =>
    source.open(Ids.tenant(tenant), { type: "speech", speech: speech(text) }, 8000)
  )

/** The milliseconds of the whole speech. */
const read = (text: string, tenant = "t") =>
  Effect.gen(function* () {
    const reader = yield* open(text, tenant)
    let samples = 0
    for (let isOver = false; !isOver;) {
      const piece = yield* reader.next
      samples += piece.samples.length
      isOver = piece.isLast
    }
    return `${samples / 8} ms`
  }).pipe(
    Effect.scoped,
    Effect.catchTag("AudioUnavailable", ({ reason }) => Effect.succeed<string>(reason))
  )

const after = <A, E, R>(ms: number, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust(ms)
    return yield* Fiber.join(fiber)
  })

describe("speech as a sound", () => {
  it.effect("is there in its full length, in as many sentences as it has", () => {
    const fake = FakeSpeech.make()
    const text = `${"A sentence of fifty characters stands here, and so. ".repeat(12)}End.`
    return Effect.gen(function* () {
      expect(yield* after(60_000, read(text))).toBe(`${20 * fake.spoken.join("").length} ms`)
      expect(fake.spoken.length).toBeGreaterThan(3)
      expect(fake.spoken.join(" ")).toBe(text)
    }).pipe(Effect.provide(sourceOver(fake)))
  })

  it.effect("is given while it is made: its first 60 ms after the engine's first stretch", () => {
    const fake = FakeSpeech.make()
    return Effect.gen(function* () {
      const reader = yield* open("A text that takes its time to be said.")
      const { isLast, samples } = yield* after(10, reader.next)
      expect([samples.length, isLast]).toStrictEqual([480, false])
    }).pipe(Effect.scoped, Effect.provide(sourceOver(fake)))
  })

  it.effect("that is known is not made again, and is a tenant's own", () => {
    const fake = FakeSpeech.make()
    return Effect.gen(function* () {
      for (const tenant of ["a", "a", "b"]) expect(yield* after(1_000, read("Hello.", tenant))).toBe("120 ms")
      expect(fake.spoken).toStrictEqual(["Hello.", "Hello."])
      yield* TestClock.adjust(600_000)
      yield* after(1_000, read("Hello.", "a"))
      expect(fake.spoken.length).toBe(3)
    }).pipe(Effect.provide(sourceOver(fake)))
  })

  it.effect("is shared by all who play it while it is made, and stopped when the last has gone", () => {
    const fake = FakeSpeech.make()
    const text = "A text that goes on for a while."
    return Effect.gen(function* () {
      const scopes = [yield* Scope.make(), yield* Scope.make()]
      for (const scope of scopes) {
        const reader = yield* Scope.provide(open(text), scope)
        yield* after(20, reader.next)
      }
      expect(fake.spoken).toStrictEqual([text])
      const [first, second] = scopes
      if (first === undefined || second === undefined) return
      yield* Scope.close(first, Exit.void)
      yield* TestClock.adjust(1)
      expect(fake.stopped()).toBe(0)
      yield* Scope.close(second, Exit.void)
      yield* TestClock.adjust(1)
      expect(fake.stopped()).toBe(1)
      // Interrupted speech is not kept.
      expect(yield* after(1_000, read(text))).toBe(`${20 * text.length} ms`)
      expect(fake.spoken.length).toBe(2)
    }).pipe(Effect.provide(sourceOver(fake)))
  })

  it.effect("is made no further ahead than it is heard", () => {
    const fake = FakeSpeech.make()
    const text = "A sentence of fifty characters stands here, and so. ".repeat(38).trim()
    return Effect.gen(function* () {
      const reader = yield* open(text)
      yield* after(60_000, reader.next)
      // 15 seconds, and the sentence that had begun.
      const ahead = 20 * fake.spoken.join("").length
      expect(ahead).toBeGreaterThan(15_000)
      expect(ahead).toBeLessThan(21_000)
      for (let piece = 0; piece < 6; piece++) yield* reader.next
      yield* TestClock.adjust(10_000)
      expect(20 * fake.spoken.join("").length).toBeGreaterThan(ahead + 6_000)
    }).pipe(Effect.scoped, Effect.provide(sourceOver(fake)))
  })

  it.effect("that fails gives first what there is, and is asked for anew", () => {
    const fake = FakeSpeech.make()
    const text = `${"Words that are said before the rest is broken. ".repeat(2)}fail here and now`
    return Effect.gen(function* () {
      const reader = yield* open(text)
      yield* after(10_000, reader.next)
      const { samples } = yield* reader.next
      expect(samples.length).toBeGreaterThan(8000)
      expect(yield* Effect.flip(reader.next)).toMatchObject({ reason: "speech_failed" })
      expect(yield* after(10_000, read("hang on"))).toBe("speech_timeout")
      expect(yield* after(10_000, read("hang on"))).toBe("speech_timeout")
      expect(fake.spoken.filter((said) => said === "hang on").length).toBe(2)
    }).pipe(Effect.scoped, Effect.provide(sourceOver(fake)))
  })

  it.effect("of nothing is empty, and one of an unknown voice is refused", () =>
    Effect.gen(function* () {
      const source = yield* AudioSource
      expect(yield* after(1_000, read("  \n "))).toBe("empty")
      const unknown = source.open(Ids.tenant("t"), { type: "speech", speech: speech("Hi", { voice: "x.y" }) }, 8000)
      expect(yield* Effect.flip(Effect.scoped(unknown))).toMatchObject({ reason: "voice_unavailable" })
    }).pipe(Effect.provide(sourceOver(FakeSpeech.make())))
  )
})
