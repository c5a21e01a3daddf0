import { Result } from "effect"
import * as G711 from "./codec/G711.ts"
import * as Mp3 from "./Mp3.ts"
import * as Resample from "./Resample.ts"
import type { SampleRate } from "./SampleRate.ts"
import * as Wav from "./Wav.ts"

/** `too_large`: longer than the limit; `empty`: no bytes or no sound in them. */
export type Fault = "unsupported_format" | "empty" | "too_large"

export interface Limits {
  readonly maxSeconds: number
}

/**
 * Decodes a WAV or MP3 file to linear samples at `rate`, one channel.
 *
 * The bytes decide what the file is. `contentType`, which the server says, matters only for `audio/basic`: mu-law of 8 kHz
 * without a header (RFC 2046 section 4.3). The promise never rejects.
 */
export const decode = async (
  bytes: Uint8Array,
  contentType: string | null,
  rate: SampleRate,
  limits: Limits
): Promise<Result.Result<Int16Array, Fault>> => {
  if (bytes.length === 0) return Result.fail("empty")
  if (Wav.isWav(bytes)) {
    const sound = Wav.read(bytes)
    if (Result.isFailure(sound)) return Result.fail(sound.failure)
    return collect([sound.success], rate, limits)
  }
  if (Mp3.firstFrame(bytes) >= 0) return collect(Mp3.decode(bytes), rate, limits)
  if (mediaType(contentType) === "audio/basic")
    return collect([{ sampleRate: 8000, samples: G711.decode("PCMU", bytes) }], rate, limits)
  return Result.fail("unsupported_format")
}

const mediaType = (contentType: string | null) => contentType?.split(";")[0]?.trim().toLowerCase()

/** Resamples pieces as they come, up to the limit. A change of rate among them begins a new stream. */
const collect = async (
  pieces: Iterable<Wav.Sound> | AsyncIterable<Wav.Sound>,
  rate: SampleRate,
  limits: Limits
): Promise<Result.Result<Int16Array, Fault>> => {
  const parts: Array<Int16Array> = []
  let total = 0
  let resampler: Resample.Resampler | null = null
  let pieceRate = 0
  const add = (part: Int16Array) => {
    parts.push(part)
    total += part.length
  }
  try {
    for await (const piece of pieces) {
      if (resampler === null || piece.sampleRate !== pieceRate) {
        if (resampler !== null) add(resampler.flush())
        resampler?.free()
        pieceRate = piece.sampleRate
        resampler = Resample.make(pieceRate, rate)
      }
      if (total + (piece.samples.length * rate) / pieceRate > limits.maxSeconds * rate) return Result.fail("too_large")
      add(resampler.process(piece.samples))
    }
    if (resampler !== null) add(resampler.flush())
  } catch {
    // The codecs are foreign code: what they cannot take is not a sound we know.
    return Result.fail("unsupported_format")
  } finally {
    resampler?.free()
  }
  return total === 0 ? Result.fail("empty") : Result.succeed(Resample.concat(parts))
}
