import load, { type SpeexModule } from "@echogarden/speex-resampler-wasm/simd"

/** A stream of one channel from one sample rate to another. */
export interface Resampler {
  /** The samples that are ready after `samples`; the filter keeps some back. */
  readonly process: (samples: Int16Array) => Int16Array
  /** The samples that were kept back, at the end of the stream. */
  readonly flush: () => Int16Array
  /** Gives the memory back; once, and no call after it. */
  readonly free: () => void
}

/** Flat to 3.4 kHz and 132 dB down at 4.5 kHz from 48 to 8 kHz. */
const quality = 5
/** Samples handed over in one call. */
const blockSamples = 4096

let loaded: Promise<SpeexModule> | undefined

/**
 * A resampler, without the delay of its filter: output begins with the first sample of the input.
 *
 * Rates are positive whole numbers of Hz. Equal rates pass samples through.
 */
export const make = async (inRate: number, outRate: number): Promise<Resampler> => {
  if (inRate === outRate)
    return { process: (samples) => samples, flush: () => new Int16Array(0), free: () => undefined }
  loaded ??= load()
  const speex = await loaded
  const outCapacity = Math.ceil((blockSamples * outRate) / inRate) + 64
  const lengths = speex._malloc(8)
  const input = speex._malloc(blockSamples * 2)
  const output = speex._malloc(outCapacity * 2)
  const state = speex._speex_resampler_init(1, inRate, outRate, quality, lengths)
  speex._speex_resampler_skip_zeros(state)

  /** One block; every heap is read anew because a call may have moved it. */
  const block = (samples: Int16Array): { readonly used: number; readonly made: Int16Array } => {
    speex.HEAP16.set(samples, input >> 1)
    speex.HEAPU32[lengths >> 2] = samples.length
    speex.HEAPU32[(lengths >> 2) + 1] = outCapacity
    speex._speex_resampler_process_int(state, 0, input, lengths, output, lengths + 4)
    const made = speex.HEAPU32[(lengths >> 2) + 1] ?? 0
    return { used: speex.HEAPU32[lengths >> 2] ?? 0, made: speex.HEAP16.slice(output >> 1, (output >> 1) + made) }
  }

  const process = (samples: Int16Array): Int16Array => {
    const parts: Array<Int16Array> = []
    for (let at = 0; at < samples.length;) {
      const { made, used } = block(samples.subarray(at, at + blockSamples))
      parts.push(made)
      // Nothing used and nothing made would repeat for ever.
      if (used === 0 && made.length === 0) break
      at += used
    }
    return concat(parts)
  }

  return {
    process,
    flush: () => process(new Int16Array(speex._speex_resampler_get_input_latency(state))),
    free: () => {
      speex._speex_resampler_destroy(state)
      for (const pointer of [lengths, input, output]) speex._free(pointer)
    }
  }
}

/** All parts in one array. */
export const concat = (parts: ReadonlyArray<Int16Array>): Int16Array => {
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
