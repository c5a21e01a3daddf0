import { readFileSync } from "node:fs"
import { expect, layer as withLayer } from "@effect/vitest"
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
      const sounds = yield* Effect.forEach(lengths, (ms) => decode(wavOf(ms), null, 8000), { concurrency: "unbounded" })
      expect(sounds.map(({ length }) => length / 8)).toStrictEqual(lengths)
      expect(sounds.every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true)
    })
  )

  it.effect("refuses what it does not know, and goes on", () =>
    Effect.gen(function* () {
      const { decode } = yield* AudioDecoder
      expect((yield* Effect.flip(decode(Uint8Array.of(1, 2, 3), "audio/mpeg", 8000))).reason).toBe("unsupported_format")
      expect((yield* Effect.flip(decode(new Uint8Array(0), null, 8000))).reason).toBe("empty")
      expect((yield* decode(mp3, null, 8000)).length).toBeGreaterThan(6000)
    })
  )

  it.effect("does not give the answer for an interrupted file to the next", () =>
    Effect.gen(function* () {
      const { decode } = yield* AudioDecoder
      const fiber = yield* Effect.forkChild(decode(wavOf(60_000), null, 8000), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      expect((yield* decode(wavOf(30), null, 8000)).length).toBe(240)
    })
  )
})
