import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as IpAddress from "../../src/domain/network/IpAddress.ts"
import { AudioDecoder } from "../../src/media/sound/AudioDecoder.ts"
import { AudioSource } from "../../src/media/sound/AudioSource.ts"
import * as MediaPlaneInline from "../../src/media/plane/MediaPlaneInline.ts"
import type { PacketPort } from "../../src/media/rtp/PacketPort.ts"
import * as FakeEgress from "../media/support/FakeEgress.ts"
import * as FakeSpeech from "../support/fake/FakeSpeech.ts"

export const sounds = { good: "https://sounds.test/tone.wav", missing: "https://sounds.test/none.wav" }

const tone = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 600, 8000) })

/** A media plane with real sound, on the test clock. */
export const plane = (options: { readonly maxLegs: number; readonly ports: PacketPort }) =>
  MediaPlaneInline.layer({
    ...options,
    random: () => 0,
    publicAddresses: IpAddress.only("192.0.2.7"),
    mediaTimeoutMs: 0
  }).pipe(
    Layer.provide(AudioSource.layer),
    Layer.provide([
      FakeEgress.make({ [sounds.good]: { body: tone } }).layer,
      AudioDecoder.layerInline,
      FakeSpeech.layer
    ])
  )

/** Moves the clock a frame at a time. Decoding, a promise, takes a turn of the event loop but no time of the clock. */
export const elapse = (ms: number) =>
  Effect.gen(function* () {
    for (let left = ms; left > 0; left -= 20) {
      yield* TestClock.adjust(Math.min(20, left))
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })
