import { readFileSync } from "node:fs"
import { describe, expect, it as plainIt, layer as withLayer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import { AudioDecoder, isWithinBudget } from "../../../../src/media/sound/AudioDecoder.ts"
import * as AudioDecoderThreads from "../../../../src/media/udp/decode/AudioDecoderThreads.ts"

const mp3 = new Uint8Array(
  readFileSync(new URL("../../../protocol/audio/file/tone-440hz-16khz-mono.mp3", import.meta.url))
)
const wavOf = (ms: number, rate = 8000) => Wav.write({ sampleRate: rate, samples: Tone.sine(440, -12, ms, rate) })

/** The lengths of the pieces of a file, in the turns of a holder. */
const lengths = (bytes: Uint8Array, holder = "a", contentType: string | null = null, rate: SampleRate = 8000) =>
  Effect.gen(function* () {
    const reading = (yield* AudioDecoder).open({ bytes, contentType }, rate)
    const made: Array<number> = []
    for (let isOver = false; !isOver;) {
      const { isLast, samples } = yield* reading.next(holder)
      expect(samples.buffer).toBeInstanceOf(SharedArrayBuffer)
      made.push(samples.length)
      isOver = isLast
    }
    reading.close()
    return made
  })

withLayer(AudioDecoderThreads.layer, { excludeTestServices: true })("The decoding threads", (it) => {
  it.effect("give each of many who ask at once its own sound, in pieces of two seconds of shared memory", () =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach([10, 5000, 20, 2010], (ms) => lengths(wavOf(ms)), { concurrency: "unbounded" })
      expect(made).toStrictEqual([[80], [16_000, 16_000, 8000], [160], [16_080]])
    })
  )

  it.effect("refuse what they do not know, and go on", () =>
    Effect.gen(function* () {
      const reasonOf = (bytes: Uint8Array) => Effect.map(Effect.flip(lengths(bytes, "a", "audio/mpeg")), String)
      expect(yield* reasonOf(Uint8Array.of(1, 2, 3))).toContain("AudioUnreadable")
      expect(yield* reasonOf(new Uint8Array(0))).toContain("AudioUnreadable")
      expect((yield* lengths(mp3))[0]).toBeGreaterThan(6000)
    })
  )

  it.effect("take turns by holder: one with a file hears it while another has forty long ones", () =>
    Effect.gen(function* () {
      const { open } = yield* AudioDecoder
      // The rate needs a filter.
      const file = { bytes: wavOf(120_000, 11_025), contentType: null }
      let loudPieces = 0
      const loud = Array.from({ length: 40 }, () => {
        const reading = open(file, 8000)
        const next: Effect.Effect<void, unknown> = Effect.flatMap(reading.next("loud"), ({ isLast }) => {
          loudPieces++
          return isLast ? Effect.void : next
        })
        return Effect.ensuring(next, Effect.sync(reading.close))
      })
      const all = yield* Effect.forkChild(Effect.all(loud, { concurrency: "unbounded" }), { startImmediately: true })
      yield* lengths(wavOf(20_000, 11_025), "quiet")
      // The quiet holder's file has ten pieces.
      expect(loudPieces).toBeLessThan(60)
      yield* Fiber.interrupt(all)
    })
  )
})

const worker = new URL("../../../../src/media/udp/decode/DecodeWorker.ts", import.meta.url)

withLayer(AudioDecoderThreads.layerOf(2, worker, { files: 8 }), { excludeTestServices: true })(
  "Files that are being decoded",
  (it) => {
    it.effect("are bounded: one holder has half of what the others leave, and a file that is closed makes room", () =>
      Effect.gen(function* () {
        const { open } = yield* AudioDecoder
        const start = (holder: string) => {
          const reading = open({ bytes: wavOf(5_000), contentType: null }, 8000)
          return Effect.map(Effect.exit(reading.next(holder)), (exit) => ({ reading, isIn: exit._tag === "Success" }))
        }
        const loud = yield* Effect.forEach(Array.from({ length: 8 }), () => start("loud"))
        expect(loud.filter(({ isIn }) => isIn)).toHaveLength(5)
        const quiet = yield* start("quiet")
        expect(quiet.isIn).toBe(true)
        for (const { isIn, reading } of loud) if (!isIn) reading.close()
        expect((yield* start("loud")).isIn).toBe(false)
        // A second close changes nothing.
        for (const { reading } of [...loud.slice(0, 3), ...loud.slice(0, 3)]) reading.close()
        const more = yield* Effect.forEach(Array.from({ length: 5 }), () => start("loud"))
        expect(more.filter(({ isIn }) => isIn)).toHaveLength(2)
        for (const { reading } of [...loud, ...more, quiet]) reading.close()
      })
    )
  }
)

const faulty = new URL("../FaultyDecoder.ts", import.meta.url)

withLayer(AudioDecoderThreads.layerOf(1, faulty, { hangMs: 300 }), { excludeTestServices: true })(
  "A decoding thread",
  (it) => {
    const open = (kind: string) =>
      Effect.map(AudioDecoder, ({ open }) => open({ bytes: new Uint8Array(1), contentType: kind }, 8000))

    it.effect.each([
      { kind: "dies", reason: "unsupported_format" },
      { kind: "hangs", reason: "decode_limit" }
    ])("that $kind fails the file that it was at, loses the others, and is replaced", ({ kind, reason }) =>
      Effect.gen(function* () {
        const other = yield* open("good")
        expect((yield* other.next("a")).samples[0]).toBe(1)
        const bad = yield* open(kind)
        const waiting = yield* Effect.forkChild(Effect.flip(bad.next("a")), { startImmediately: true })
        const behind = yield* Effect.forkChild(Effect.flip(other.next("a")), { startImmediately: true })
        expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "AudioUnreadable", reason })
        expect(yield* Fiber.join(behind)).toMatchObject({ _tag: "DecoderLost" })
        expect(yield* Effect.flip(other.next("a"))).toMatchObject({ _tag: "DecoderLost" })
        const again = yield* open("good")
        expect((yield* again.next("a")).samples[0]).toBe(1)
        expect((yield* again.next("a")).samples[0]).toBe(2)
      })
    )

    it.effect("that gets no processor for a while is waited for", () =>
      Effect.gen(function* () {
        const other = yield* open("good")
        expect((yield* other.next("a")).samples[0]).toBe(1)
        const starving = yield* open("starves")
        expect((yield* starving.next("a")).samples[0]).toBe(1)
        expect((yield* other.next("a")).samples[0]).toBe(2)
      })
    )

    it.effect("does not give the piece of one who went away to the next", () =>
      Effect.gen(function* () {
        const gone = yield* open("good")
        const fiber = yield* Effect.forkChild(gone.next("a"), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        expect(yield* Effect.flip(gone.next("a"))).toMatchObject({ _tag: "DecoderLost" })
        expect((yield* (yield* open("good")).next("a")).samples[0]).toBe(1)
      })
    )
  }
)

describe("The CPU time of a file", () => {
  plainIt("is in proportion to its sound, beyond what it may take to begin with", () => {
    expect(isWithinBudget(999, 0)).toBe(true)
    expect(isWithinBudget(1001, 0)).toBe(false)
    expect(isWithinBudget(30_000, 1_800_000)).toBe(true)
    expect(isWithinBudget(56_000, 1_800_000)).toBe(false)
  })
})
