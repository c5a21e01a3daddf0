import { Context, Data, Effect, Layer, Result } from "effect"
import * as Decode from "../audio/Decode.ts"
import type { SampleRate } from "../audio/SampleRate.ts"

export class AudioUnreadable extends Data.TaggedError("AudioUnreadable")<{ readonly reason: Decode.Fault }> {}

/** Longest sound that is played: half an hour, 29 MB decoded to 8 kHz, 58 MB to 16 kHz. */
export const limits: Decode.Limits = { maxSeconds: 1800 }

/** Turns the bytes of a sound file into linear samples of one channel. */
export class AudioDecoder extends Context.Service<
  AudioDecoder,
  {
    /** Takes `bytes` over: the caller does not use them any more. */
    readonly decode: (
      bytes: Uint8Array,
      contentType: string | null,
      rate: SampleRate
    ) => Effect.Effect<Int16Array, AudioUnreadable>
  }
>()("trunkline/media/AudioDecoder") {
  /** Decodes in this thread, which a long file holds up for seconds: for tests. */
  static readonly layerInline = Layer.succeed(AudioDecoder, {
    decode: (bytes, contentType, rate) =>
      Effect.flatMap(
        Effect.promise(() => Decode.decode(bytes, contentType, rate, limits)),
        Result.match({
          onSuccess: (samples) => Effect.succeed(samples),
          onFailure: (reason) => Effect.fail(new AudioUnreadable({ reason }))
        })
      )
  })
}
