import { rates, type StreamCodec } from "../../../domain/schema/StreamField.ts"
import type { Codec, Encoder } from "../../../protocol/audio/codec/Codec.ts"
import * as Codecs from "../../../protocol/audio/codec/Codecs.ts"
import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import * as Frame from "../../Frame.ts"
import type { FarEnd } from "../../FarEnd.ts"
import type * as StreamMessages from "../../../ports/media/StreamMessages.ts"
import type { MediaFormat } from "./StreamDialect.ts"
import type { SoundDecoder } from "../playout/SoundQueue.ts"

/** The codec of a stream, in both directions. */
export interface StreamFormat {
  /** The format as it is sent to the server. */
  readonly told: MediaFormat
  /** The rate of its samples. */
  readonly rate: SampleRate
  readonly frameOctets: number
  readonly encoder: () => Encoder
  readonly decoder: () => SoundDecoder
  /** Whether payloads of a leg with this codec can be sent unchanged. */
  readonly passes: (codec: Codecs.CodecName) => boolean
}

/**
 * The smallest part of a payload, between any two of which it may be cut; null: it may not. A frame of a plain codec
 * has as many octets as samples, or one of them is a multiple of the other.
 */
const unitOf = ({ frameOctets, isPlain, sampleRate }: Codec): SoundDecoder["unit"] => {
  const perOctet = Frame.lengthAt(sampleRate) / frameOctets
  return isPlain ? { octets: Math.max(1, 1 / perOctet), samples: Math.max(1, perOctet) } : null
}

/** Null: the codec has no such rate. */
const of = (name: StreamCodec, rate: number): StreamFormat | null => {
  const codec = Codecs.at(name, rate)
  if (codec === null) return null
  const { sampleRate } = codec
  const isSameOnLegs = name === "OPUS" || Codecs.table[name].sampleRate === sampleRate
  return {
    told: { encoding: name, sampleRate: rates[name].length > 1 ? sampleRate : rates[name][0] },
    rate: sampleRate,
    frameOctets: codec.frameOctets,
    encoder: () => codec.encoder(null),
    passes: (other) => other === name && isSameOnLegs,
    decoder: () => {
      const { decode, duration, reset } = codec.decoder()
      return {
        unit: unitOf(codec),
        samplesIn: (packet) => (duration(packet, 0, packet.length) * sampleRate) / codec.clockRate,
        decode,
        reset
      }
    }
  }
}

const narrow = of("PCMU", 8000)

/** Chooses the requested format; the default is that of the leg, or one as wide as the leg if it has no codec. */
export const choose = ({ codec, rate }: Pick<StreamMessages.Options, "codec" | "rate">, far: FarEnd): StreamFormat => {
  const name = codec ?? far.packetFormat()?.codec ?? (far.rate() < 16_000 ? "PCMU" : "L16")
  const format = of(name, rate ?? Codecs.table[name].sampleRate) ?? narrow
  if (format === null) throw new Error("there is no PCMU")
  return format
}

/** A decoder for plain samples in the byte order of this machine: sound that was decoded elsewhere. */
export const samples = (): SoundDecoder => ({
  unit: { octets: 2, samples: 1 },
  samplesIn: () => 0,
  decode: (bytes, out) => {
    const count = bytes.length >> 1
    out.set(new Int16Array(bytes.buffer, bytes.byteOffset, count))
    return count
  },
  reset: () => undefined
})
