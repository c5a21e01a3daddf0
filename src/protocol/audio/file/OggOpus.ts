import * as Libopus from "../codec/Libopus.ts"
import * as PcmReader from "./PcmReader.ts"
import type * as Ogg from "./Ogg.ts"
import type { SoundSource } from "./SoundSource.ts"

const magic = new TextEncoder().encode("OpusHead")

/** Whether the first packet of an Ogg stream is the identification header of Opus, RFC 7845 section 5.1. */
export const isHead = (packet: Uint8Array): boolean =>
  packet.length >= 19 && magic.every((octet, i) => packet[i] === octet)

const rate = 48_000
/** The samples of the longest packet, 120 ms. */
const mostSamples = (rate * 120) / 1000
/** The octets of the longest packet of one stream: 48 frames of up to 1,275 octets, and their lengths. */
const mostOctets = 61_440

/**
 * Decodes a stream of an Ogg file, whose head was read, packet by packet. A broken packet is left out. So is an empty
 * one, in whose place the codec would make up 120 ms. Throws for surround sound, which is several streams in one.
 */
export const open = (head: Uint8Array, packets: Iterator<Ogg.Packet>): SoundSource => {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const isSurround = view.getUint8(18) !== 0 && (head.length < 21 || view.getUint8(19) !== 1)
  if (view.getUint8(8) > 15 || isSurround) throw new Error("no Opus stream of one or two channels")
  const gain = 10 ** (view.getInt16(16, true) / (20 * 256))
  const preSkip = view.getUint16(10, true)
  const decoder = Libopus.decoder(rate, mostSamples, mostOctets)
  let skip = preSkip
  let total = 0
  // The packet after the head holds comments.
  packets.next()
  return {
    next: () => {
      const packet = packets.next()
      if (packet.done === true) return null
      const { bytes, granule } = packet.value
      const decoded = bytes.length === 0 ? 0 : Math.max(0, decoder.decode(bytes))
      // The last page states how many samples the stream has: the rest of its last packet is padding.
      const excess = granule === null || granule < 0 ? 0 : Math.max(0, total + decoded - granule)
      total += decoded
      const from = Math.min(skip, decoded)
      const samples = decoder.samples().slice(from, Math.max(from, decoded - excess))
      skip -= from
      return {
        sampleRate: rate,
        samples: gain === 1 ? samples : samples.map((sample) => PcmReader.ofFloat((sample * gain) / 32_768))
      }
    },
    free: () => decoder.free()
  }
}
