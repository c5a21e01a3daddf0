import load from "@echogarden/speex-resampler-wasm/simd"
import type { SampleRate } from "./SampleRate.ts"

/** Converts a stream of one channel from one sample rate to another. */
export interface Resampler {
  /** Returns the samples that are ready after `samples`; the filter keeps some back. */
  readonly process: (samples: Int16Array) => Int16Array
  /** Returns the samples that were kept back, at the end of the stream. */
  readonly flush: () => Int16Array
  /** Frees the memory; called once, as the last call. */
  readonly free: () => void
}

/** Converts a stream of one channel in pieces. Each gives as much sound as it is long. */
export interface StreamResampler {
  /**
   * Fills `out` with the next piece; returns the number of samples. The output lags by half the filter: 5 ms if the
   * lower of the two rates is 8 kHz, 2.5 ms if it is 16 kHz.
   */
  readonly convert: (samples: Int16Array, out: Int16Array) => number
  /** Frees the memory; called once, as the last call. */
  readonly free: () => void
}

/** Flat to 3.4 kHz and 132 dB down at 4.5 kHz from 48 to 8 kHz. */
const quality = 5
/** How many samples are passed in one call. */
const blockSamples = 4096

const speex = await load()

let held = 0

/** The number of filters whose memory was not freed yet. */
export const filtersHeld = (): number => held

/** Allocates a filter and its buffers in the WebAssembly memory. A call may move that memory; the views follow it. */
const allocate = (inRate: number, outRate: number, inCapacity: number, outCapacity: number) => {
  held++
  const lengths = speex._malloc(8)
  const input = speex._malloc(inCapacity * 2)
  const output = speex._malloc(outCapacity * 2)
  const state = speex._speex_resampler_init(1, inRate, outRate, quality, lengths)
  let heap = speex.HEAP16
  let made = heap.subarray(output >> 1, (output >> 1) + outCapacity)
  let counts = speex.HEAPU32.subarray(lengths >> 2, (lengths >> 2) + 2)
  const look = () => {
    if (heap === speex.HEAP16) return
    heap = speex.HEAP16
    made = heap.subarray(output >> 1, (output >> 1) + outCapacity)
    counts = speex.HEAPU32.subarray(lengths >> 2, (lengths >> 2) + 2)
  }

  return {
    state,
    /** Passes `samples` to the filter and takes up to `wanted` samples. */
    run: (samples: Int16Array, wanted: number): void => {
      look()
      heap.set(samples, input >> 1)
      counts[0] = samples.length
      counts[1] = wanted
      speex._speex_resampler_process_int(state, 0, input, lengths, output, lengths + 4)
      look()
    },
    used: (): number => counts[0] ?? 0,
    madeLength: (): number => counts[1] ?? 0,
    made: (): Int16Array => made,
    free: () => {
      held--
      speex._speex_resampler_destroy(state)
      for (const pointer of [lengths, input, output]) speex._free(pointer)
    }
  }
}

/**
 * A resampler for sounds of any length, without the delay of its filter: the output begins with the first sample of the
 * input.
 *
 * Rates are positive whole numbers of Hz. Equal rates pass samples through.
 */
export const make = (inRate: number, outRate: number): Resampler => {
  if (inRate === outRate)
    return { process: (samples) => samples, flush: () => new Int16Array(0), free: () => undefined }
  const outCapacity = Math.ceil((blockSamples * outRate) / inRate) + 64
  const filter = allocate(inRate, outRate, blockSamples, outCapacity)
  speex._speex_resampler_skip_zeros(filter.state)

  const process = (samples: Int16Array): Int16Array => {
    const parts: Array<Int16Array> = []
    for (let at = 0; at < samples.length;) {
      filter.run(samples.subarray(at, at + blockSamples), outCapacity)
      const made = filter.made().slice(0, filter.madeLength())
      parts.push(made)
      // A filter that takes nothing and makes nothing would loop for ever.
      if (filter.used() === 0 && made.length === 0) break
      at += filter.used()
    }
    return concat(parts)
  }

  return {
    process,
    flush: () => process(new Int16Array(speex._speex_resampler_get_input_latency(filter.state))),
    free: filter.free
  }
}

/** A resampler for pieces of up to `longest` samples. A piece of whole milliseconds keeps its exact duration. */
export const stream = (inRate: SampleRate, outRate: SampleRate, longest: number): StreamResampler => {
  const outLength = Math.ceil((longest * outRate) / inRate)
  const filter = allocate(inRate, outRate, longest, outLength)
  return {
    convert: (samples, out) => {
      filter.run(samples, outLength)
      const made = filter.madeLength()
      out.set(made === outLength ? filter.made() : filter.made().subarray(0, made))
      return made
    },
    free: filter.free
  }
}

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
