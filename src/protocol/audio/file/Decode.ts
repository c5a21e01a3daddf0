import { Result } from "effect"
import * as Aiff from "./Aiff.ts"
import * as Flac from "./Flac.ts"
import * as Mp3 from "./Mp3.ts"
import * as Ogg from "./Ogg.ts"
import * as OggOpus from "./OggOpus.ts"
import * as OggVorbis from "./OggVorbis.ts"
import * as PcmReader from "./PcmReader.ts"
import * as Resample from "../Resample.ts"
import type { SampleRate } from "../SampleRate.ts"
import * as SoundSource from "./SoundSource.ts"
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

/**
 * Begins to decode a sound file to linear samples at `rate`, one channel: WAV, AIFF, MP3, FLAC, and Ogg with FLAC,
 * Vorbis or Opus. A file that states to be longer than the limit is refused before any of it is decoded.
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
  if (bytes.length === 0) return Result.fail("empty")
  try {
    const source = await sourceOf(bytes, contentType, limits)
    return Result.map(source, (opened) => resampled(opened, rate, limits))
  } catch {
    // The codecs are foreign code: a file that they reject with an error is of no known format.
    return Result.fail("unsupported_format")
  }
}

const sourceOf = async (
  bytes: Uint8Array,
  contentType: string | null,
  limits: Limits
): Promise<Result.Result<SoundSource.SoundSource, Fault>> => {
  const isTooLong = (seconds: number) => seconds > limits.maxSeconds
  const read = (reader: PcmReader.PcmReader): Result.Result<SoundSource.SoundSource, Fault> =>
    isTooLong(reader.length / reader.sampleRate)
      ? Result.fail("too_large")
      : Result.succeed(SoundSource.ofReader(reader))

  if (Wav.isWav(bytes)) return Result.flatMap(Wav.open(bytes), read)
  if (Aiff.isAiff(bytes)) return Result.flatMap(Aiff.open(bytes), read)
  if (Ogg.isOgg(bytes)) return Result.succeed(await ofOgg(bytes))
  const start = Mp3.tagLength(bytes)
  if (Flac.isFlac(bytes, start)) return Result.succeed(await Flac.ofFile(bytes, start))
  if (Mp3.firstFrame(bytes) >= 0)
    return isTooLong(Mp3.seconds(bytes)) ? Result.fail("too_large") : Result.succeed(await Mp3.open(bytes))
  if (mediaType(contentType) !== "audio/basic") return Result.fail("unsupported_format")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const coding = { type: "mu-law", bits: 8, isLittleEndian: true } as const
  return Result.flatMap(PcmReader.make(view, 0, bytes.length, { coding, channels: 1, sampleRate: 8000 }), read)
}

/** The codec of an Ogg file is known by its first packet. Throws for one that is not played. */
const ofOgg = async (bytes: Uint8Array): Promise<SoundSource.SoundSource> => {
  const packets = Ogg.packets(bytes)
  const head = packets.next().value?.bytes ?? new Uint8Array(0)
  if (OggOpus.isHead(head)) return OggOpus.open(head, packets)
  if (OggVorbis.isHead(head)) return OggVorbis.open(head, packets)
  if (Flac.isHead(head)) return Flac.ofOgg(packets)
  throw new Error("an Ogg file of another codec")
}

const mediaType = (contentType: string | null) => contentType?.split(";")[0]?.trim().toLowerCase()

/** Resamples the sound of a source, up to the limit. A change of its rate begins a new stream. */
const resampled = (source: SoundSource.SoundSource, rate: SampleRate, { maxSeconds }: Limits): Decoding => {
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
    if (!PcmReader.isRate(stretch.sampleRate)) throw new Error("not the rate of a sound")
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
