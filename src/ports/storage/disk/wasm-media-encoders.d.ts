/** LAME as the package wraps it; its own declarations are not where its exports point. */
declare module "wasm-media-encoders" {
  export interface Mp3Encoder {
    /** `bitrate`: a constant rate, in kbit/s for all channels together. */
    readonly configure: (options: {
      readonly channels: 1 | 2
      readonly sampleRate: number
      readonly bitrate: 16 | 32 | 64
    }) => void
    /** The samples are from -1 to 1, one array for each channel. The result is valid until the next call. */
    readonly encode: (samples: ReadonlyArray<Float32Array>) => Uint8Array
    readonly finalize: () => Uint8Array
  }
  export const createMp3Encoder: () => Promise<Mp3Encoder>
}
