import { OggVorbisDecoder } from "@wasm-audio-decoders/ogg-vorbis"
import type * as Ogg from "./Ogg.ts"
import * as SoundSource from "./SoundSource.ts"

/** The codec of the package, which decodes packets at once; its public methods want pages of a parser of its own. */
interface Codec {
  readonly sendSetupHeader: (packet: Uint8Array) => void
  readonly initDsp: () => void
  readonly decodePackets: (packets: ReadonlyArray<Uint8Array>) => {
    readonly channelData: ReadonlyArray<Float32Array>
    readonly samplesDecoded: number
    readonly sampleRate: number
  }
}

const name = new TextEncoder().encode("vorbis")
const isHeader = (packet: Uint8Array, type: number): boolean =>
  packet[0] === type && name.every((octet, i) => packet[i + 1] === octet)

/** Whether the first packet of an Ogg stream is the identification of Vorbis I, section 4.2.2. */
export const isHead = (packet: Uint8Array): boolean => isHeader(packet, 1) && packet.length >= 30

/** More channels than a sound has: a file that states them wants memory. */
const mostChannels = 8

/** Decodes a stream of an Ogg file, whose head was read, packet by packet. Throws where the setup is missing. */
export const open = async (head: Uint8Array, packets: Iterator<Ogg.Packet>): Promise<SoundSource.SoundSource> => {
  const [comment, setup] = [packets.next(), packets.next()]
  if (comment.done === true || setup.done === true || !isHeader(setup.value.bytes, 5) || (head[11] ?? 0) > mostChannels)
    throw new Error("not a Vorbis stream")
  const decoder = new OggVorbisDecoder()
  await decoder.ready
  const codec = (decoder as unknown as { readonly _decoder: Codec })._decoder
  codec.sendSetupHeader(head)
  codec.sendSetupHeader(setup.value.bytes)
  codec.initDsp()
  let total = 0
  return {
    next: () => {
      const packet = packets.next()
      if (packet.done === true) return null
      const { channelData, sampleRate, samplesDecoded } = codec.decodePackets([packet.value.bytes])
      // The last page states how many samples the stream has: the rest of its last packet is padding.
      const { granule } = packet.value
      const excess = granule === null || granule < 0 ? 0 : Math.max(0, total + samplesDecoded - granule)
      total += samplesDecoded
      return { sampleRate, samples: SoundSource.mono(channelData, Math.max(0, samplesDecoded - excess)) }
    },
    free: () => decoder.free()
  }
}
