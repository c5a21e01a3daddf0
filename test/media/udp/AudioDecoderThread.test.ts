import { readFileSync } from "node:fs"
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Tone from "../../../src/audio/Tone.ts"
import * as Wav from "../../../src/audio/Wav.ts"
import { AudioDecoder } from "../../../src/media/AudioDecoder.ts"
import * as AudioDecoderThread from "../../../src/media/udp/AudioDecoderThread.ts"

const mp3 = new Uint8Array(readFileSync(new URL("../../audio/tone-440hz-16khz-mono.mp3", import.meta.url)))
const wavOf = (ms: number) => Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, ms, 8000) })

withLayer(AudioDecoderThread.layer, { excludeTestServices: true })("The decoding thread", (it) => {
  it.effect("answers each of many who ask at once with its own sound, in shared memory", () =>
    Effect.gen(function* () {
      const { decode } = yield* AudioDecoder
      const lengths = [10, 250, 20, 130]
      const sounds = yield* Effect.forEach(lengths, (ms) => decode(wavOf(ms), null), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        sounds.map(({ length }) => length / 8),
        lengths
      )
      assert.isTrue(sounds.every(({ buffer }) => buffer instanceof SharedArrayBuffer))
    })
  )

  it.effect("refuses what it does not know, and goes on", () =>
    Effect.gen(function* () {
      const { decode } = yield* AudioDecoder
      assert.strictEqual(
        (yield* Effect.flip(decode(Uint8Array.of(1, 2, 3), "audio/mpeg"))).reason,
        "unsupported_format"
      )
      assert.strictEqual((yield* Effect.flip(decode(new Uint8Array(0), null))).reason, "empty")
      assert.isAbove((yield* decode(mp3, null)).length, 6000)
    })
  )

  it.effect("does not give the answer for an interrupted file to the next", () =>
    Effect.gen(function* () {
      const { decode } = yield* AudioDecoder
      const fiber = yield* Effect.forkChild(decode(wavOf(60_000), null), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* decode(wavOf(30), null)).length, 240)
    })
  )
})
