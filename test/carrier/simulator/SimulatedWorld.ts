import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Entropy } from "../../../src/actor/Entropy.ts"
import * as Tone from "../../../src/audio/Tone.ts"
import * as Wav from "../../../src/audio/Wav.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { InboundSimulator } from "../../../src/carrier/InboundSimulator.ts"
import * as SimulatorCarrier from "../../../src/carrier/simulator/SimulatorCarrier.ts"
import { AudioDecoder } from "../../../src/media/AudioDecoder.ts"
import { AudioSource } from "../../../src/media/AudioSource.ts"
import * as MediaPlaneInline from "../../../src/media/MediaPlaneInline.ts"
import * as FakeEgress from "../../media/FakeEgress.ts"
import { Outside } from "../CarrierContract.ts"

export const sounds = { good: "https://sounds.test/tone.wav", missing: "https://sounds.test/none.wav" }

const tone = Wav.write({ sampleRate: 8000, samples: Tone.sine(440, -12, 600, 8000) })

const media = (maxLegs: number) =>
  MediaPlaneInline.layer({
    ports: MediaPlaneInline.noPorts,
    random: () => 0,
    announce: "192.0.2.7",
    mediaTimeoutMs: 0,
    maxLegs
  }).pipe(
    Layer.provide(AudioSource.layer),
    Layer.provide([FakeEgress.make({ [sounds.good]: { body: tone } }).layer, AudioDecoder.layerInline])
  )

/** A frame at a time; decoding is a promise, which takes no time of the clock but a turn of the event loop. */
const elapse = (ms: number) =>
  Effect.gen(function* () {
    for (let left = ms; left > 0; left -= 20) {
      yield* TestClock.adjust(Math.min(20, left))
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })

const outside = Layer.effect(
  Outside,
  Effect.gen(function* () {
    const inbound = yield* InboundSimulator
    return Outside.of({ elapse, callIn: (call) => Effect.asVoid(inbound.simulateInbound(call)) })
  })
)

/** The simulator carrier with real sound, all on the test clock. */
export const layer = (maxLegs = 100) =>
  outside.pipe(
    Layer.provideMerge(SimulatorCarrier.layer),
    Layer.provideMerge(Carrier.layer),
    Layer.provideMerge(media(maxLegs)),
    Layer.provide(Entropy.layerFixed("simulated world"))
  )
