import type { Codec } from "./Codec.ts"
import * as FadingRepetition from "./FadingRepetition.ts"

/**
 * G.711, both laws, by tables: 64 kbit/s at 8000 samples a second, one octet a sample.
 *
 * Linear samples are 16 bits; mu-law keeps 14 of them and A-law 13, as in the software tool library of ITU-T G.191.
 */
export type Law = "PCMU" | "PCMA"

const linearOf = {
  /** G.711 table 2: 14 bits, octets inverted on the line. */
  PCMU: (octet: number): number => {
    const bits = ~octet & 0xff
    const magnitude = ((((bits & 0x0f) << 1) + 33) << ((bits >> 4) & 7)) - 33
    return (bits & 0x80 ? -magnitude : magnitude) * 4
  },
  /** G.711 table 1: 13 bits, even bits inverted on the line. */
  PCMA: (octet: number): number => {
    const bits = octet ^ 0x55
    const segment = (bits >> 4) & 7
    const step = ((bits & 0x0f) << 1) + 1
    const magnitude = segment === 0 ? step : (step + 32) << (segment - 1)
    return (bits & 0x80 ? magnitude : -magnitude) * 8
  }
}

/** The number of the highest set bit in a positive number. */
const highestBit = (value: number) => 31 - Math.clz32(value)

const octetOf = {
  PCMU: (sample: number): number => {
    // Ones' complement makes the decision values of both signs symmetric.
    const biased = Math.min(0x1fff, ((sample < 0 ? ~sample : sample) >> 2) + 33)
    const segment = highestBit(biased) - 5
    const bits = (segment << 4) | ((biased >> (segment + 1)) & 0x0f)
    return (sample < 0 ? ~(bits | 0x80) : ~bits) & 0xff
  },
  PCMA: (sample: number): number => {
    const magnitude = (sample < 0 ? ~sample : sample) >> 4
    const segment = magnitude < 16 ? 0 : highestBit(magnitude) - 3
    const mantissa = segment === 0 ? magnitude : (magnitude >> (segment - 1)) & 0x0f
    return ((segment << 4) | mantissa | (sample < 0 ? 0 : 0x80)) ^ 0x55
  }
}

const tablesOf = (law: Law) => ({
  decode: Int16Array.from({ length: 256 }, (_, octet) => linearOf[law](octet)),
  /** Indexed by the sample as an unsigned 16-bit number. */
  encode: Uint8Array.from({ length: 65_536 }, (_, index) => octetOf[law]((index << 16) >> 16))
})

const tables = { PCMU: tablesOf("PCMU"), PCMA: tablesOf("PCMA") }

/** Expands `octets` into `out`, a sample each. */
const expand = (law: Law, octets: Uint8Array, out: Int16Array): number => {
  const table = tables[law].decode
  for (let i = 0; i < octets.length; i++) out[i] = table[octets[i] ?? 0] ?? 0
  return octets.length
}

/** Compresses `samples` into `out` from `at` on, an octet each. */
const compress = (law: Law, samples: Int16Array, out: Uint8Array, at: number): number => {
  const table = tables[law].encode
  for (let i = 0; i < samples.length; i++) out[at + i] = table[(samples[i] ?? 0) & 0xffff] ?? 0
  return samples.length
}

/** Decodes a whole sound of one law. */
export const decode = (law: Law, octets: Uint8Array): Int16Array => {
  const samples = new Int16Array(octets.length)
  expand(law, octets, samples)
  return samples
}

/** Encodes a whole sound in one law. */
export const encode = (law: Law, samples: Int16Array): Uint8Array => {
  const octets = new Uint8Array(samples.length)
  compress(law, samples, octets, 0)
  return octets
}

const ignore = (): void => undefined

/** One law as a codec; no sample depends on another. */
export const codec = (law: Law): Codec => ({
  encoding: law,
  clockRate: 8000,
  channels: 1,
  payloadType: law === "PCMU" ? 0 : 8,
  fmtp: null,
  sampleRate: 8000,
  frameOctets: 160,
  isStateless: true,
  isPlain: true,
  impairment: { ie: 0, bpl: FadingRepetition.robustness },
  encoder: () => ({ encode: (samples, out, at) => compress(law, samples, out, at), reported: ignore, free: ignore }),
  decoder: () => ({
    duration: (_, start, end) => end - start,
    decode: (payload, out) => expand(law, payload, out),
    conceal: FadingRepetition.make(),
    skip: ignore,
    reset: ignore,
    free: ignore
  })
})
