import type { SampleRate } from "../SampleRate.ts"
import type { Codec } from "./Codec.ts"
import * as FadingRepetition from "./FadingRepetition.ts"

/** L16, RFC 3551 section 4.5.11: the samples themselves, of 16 bits, signed, the higher octet first. */

const ignore = (): void => undefined

/** L16 of one channel. */
export const codec = (sampleRate: SampleRate): Codec => ({
  encoding: "L16",
  clockRate: sampleRate,
  channels: 1,
  // The numbers that RFC 3551 assigns are for 44.1 kHz.
  payloadType: null,
  fmtp: null,
  sampleRate,
  frameOctets: sampleRate / 25,
  isStateless: true,
  isPlain: true,
  // The values of G.711: on the scale of narrow-band speech its width gains nothing.
  // The recommendation has no figures; the concealment, and its effect, is that of G.711.
  impairment: { ie: 0, bpl: FadingRepetition.robustness },
  encoder: () => ({
    encode: (samples, out, at) => {
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i] ?? 0
        out[at + 2 * i] = sample >> 8
        out[at + 2 * i + 1] = sample
      }
      return samples.length * 2
    },
    reported: ignore,
    free: ignore
  }),
  decoder: () => ({
    duration: (_, start, end) => ((end - start) & 1 ? 0 : (end - start) >> 1),
    decode: (payload, out) => {
      const count = payload.length >> 1
      for (let i = 0; i < count; i++) out[i] = ((payload[2 * i] ?? 0) << 8) | (payload[2 * i + 1] ?? 0)
      return count
    },
    conceal: FadingRepetition.make(),
    skip: ignore,
    reset: ignore,
    free: ignore
  })
})
