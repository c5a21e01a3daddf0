/** The part of the Speex resampler's C interface that we call; pointers are numbers, heaps move when memory grows. */
declare module "@echogarden/speex-resampler-wasm/simd" {
  export interface SpeexModule {
    readonly HEAP16: Int16Array
    readonly HEAPU32: Uint32Array
    readonly _malloc: (bytes: number) => number
    readonly _free: (pointer: number) => void
    readonly _speex_resampler_init: (
      channels: number,
      inRate: number,
      outRate: number,
      quality: number,
      errorPointer: number
    ) => number
    readonly _speex_resampler_destroy: (state: number) => void
    readonly _speex_resampler_skip_zeros: (state: number) => number
    readonly _speex_resampler_get_input_latency: (state: number) => number
    readonly _speex_resampler_process_int: (
      state: number,
      channel: number,
      input: number,
      inputLength: number,
      output: number,
      outputLength: number
    ) => number
  }
  const load: () => Promise<SpeexModule>
  export default load
}
