import { Result } from "effect"
import * as G711 from "./codec/G711.ts"
import * as Mp3 from "./Mp3.ts"
import * as Resample from "./Resample.ts"
import type { SampleRate } from "./SampleRate.ts"
import * as Wav from "./Wav.ts"

/** `too_large`: longer than the limit; `empty`: no bytes, or no sound in them. */
export type Fault = "unsupported_format" | "empty" | "too_large"

export interface Limits {
  readonly maxSeconds: number
}

/** A file that is being decoded, a little at a time. */
export interface Decoding {
  /** Returns the next samples, perhaps none yet; null: the end. Must not be called after the end or a fault. */
  readonly next: () => Result.Result<Int16Array | null, Fault>
  /** Frees the memory; called once, as the last call. */
  readonly free: () => void
}

/** The sound of a file, at its own rate. */
interface Source {
  readonly next: () => Wav.Sound | null
  readonly free: () => void
}

/** How many samples of a WAVE file are read at once. */
const stretchSamples = 4096

/**
 * Begins to decode a WAV or MP3 file to linear samples at `rate`, one channel. A file that is longer than the limit is
 * refused before any of it is decoded.
 *
 * The bytes decide the format. `contentType`, from the server, matters only for `audio/basic`: mu-law of 8 kHz without
 * a header (RFC 2046 section 4.3). The promise never rejects.
 */
export const open = async (
  bytes: Uint8Array,
  contentType: string | null,
  rate: SampleRate,
  limits: Limits
): Promise<Result.Result<Decoding, Fault>> => {
  const isTooLong = (seconds: number) => seconds > limits.maxSeconds
  if (bytes.length === 0) return Result.fail("empty")
  if (Wav.isWav(bytes)) {
    const wav = Wav.open(bytes)
    if (Result.isFailure(wav)) return Result.fail(wav.failure)
    if (isTooLong(wav.success.length / wav.success.sampleRate)) return Result.fail("too_large")
    return Result.succeed(resampled(ofReader(wav.success), rate, limits))
  }
  if (Mp3.firstFrame(bytes) >= 0) {
    if (isTooLong(Mp3.seconds(bytes))) return Result.fail("too_large")
    try {
      return Result.succeed(resampled(await Mp3.open(bytes), rate, limits))
    } catch {
      return Result.fail("unsupported_format")
    }
  }
  if (mediaType(contentType) === "audio/basic") {
    const read = (from: number, count: number) => G711.decode("PCMU", bytes.subarray(from, from + count))
    if (isTooLong(bytes.length / 8000)) return Result.fail("too_large")
    return Result.succeed(resampled(ofReader({ sampleRate: 8000, length: bytes.length, read }), rate, limits))
  }
  return Result.fail("unsupported_format")
}

const mediaType = (contentType: string | null) => contentType?.split(";")[0]?.trim().toLowerCase()

const ofReader = ({ length, read, sampleRate }: Wav.Reader): Source => {
  let at = 0
  return {
    next: () => {
      if (at >= length) return null
      const samples = read(at, stretchSamples)
      at += samples.length
      return { sampleRate, samples }
    },
    free: () => undefined
  }
}

/** Resamples the sound of a source, up to the limit. A change of its rate begins a new stream. */
const resampled = (source: Source, rate: SampleRate, { maxSeconds }: Limits): Decoding => {
  let resampler: Resample.Resampler | null = null
  let sourceRate = 0
  let total = 0

  const convert = (): Int16Array | null => {
    const stretch = source.next()
    if (stretch === null) {
      const rest = resampler?.flush() ?? null
      resampler?.free()
      resampler = null
      return rest
    }
    if (stretch.samples.length === 0) return stretch.samples
    const before = stretch.sampleRate === sourceRate ? null : (resampler?.flush() ?? null)
    if (resampler === null || stretch.sampleRate !== sourceRate) {
      resampler?.free()
      sourceRate = stretch.sampleRate
      resampler = Resample.make(sourceRate, rate)
    }
    const samples = resampler.process(stretch.samples)
    return before === null ? samples : Resample.concat([before, samples])
  }

  return {
    next: () => {
      try {
        const samples = convert()
        total += samples?.length ?? 0
        if (total > maxSeconds * rate) return Result.fail("too_large")
        return samples === null && total === 0 ? Result.fail("empty") : Result.succeed(samples)
      } catch {
        // The codecs are foreign code: a file that they reject with an error is of no known format.
        return Result.fail("unsupported_format")
      }
    },
    free: () => {
      resampler?.free()
      resampler = null
      source.free()
    }
  }
}
